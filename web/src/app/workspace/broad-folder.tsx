/** The question about a broad folder, above whatever is on the screen. */
import { BroadFolderDialog } from '@/features/workspace/broad-folder-dialog'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

export function BroadFolder() {
  const { broadFolder: broad } = useServices().workbench
  useSignal(broad.changes)
  if (broad.path === null) return null
  return (
    <BroadFolderDialog
      path={broad.path}
      onOpen={() => broad.settle(true)}
      onClose={() => broad.settle(false)}
    />
  )
}
