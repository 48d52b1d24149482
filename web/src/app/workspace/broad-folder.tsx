/** The question about a broad folder, above the page. */
import { BroadFolderDialog } from '@/features/workspace/broad-folder-dialog'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

export function BroadFolderQuestion() {
  const { broadFolder } = useServices().workbench
  useSignal(broadFolder.changes)
  if (broadFolder.path === null) return null
  return (
    <BroadFolderDialog
      path={broadFolder.path}
      onOpen={() => broadFolder.settle(true)}
      onClose={() => broadFolder.settle(false)}
    />
  )
}
