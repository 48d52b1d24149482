/** The workspace of the artifact that is open, apart from the rest of the page: who opens none never loads it. */
import ArtifactWorkspace from '@/features/artifact/artifact-workspace'
import type { ArtifactRow } from '@/system/rows/model'
import type { Session } from '@/system/workbench/session'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'
import { useArtifactHandlers } from './use-artifacts'

export default function OpenedArtifact(props: {
  readonly session: Session
  readonly artifact: ArtifactRow
  readonly successor: ArtifactRow | null
  readonly asked: number | null
  readonly onOpen: (artifactId: string, version: number | null) => void
  readonly onClose: () => void
  readonly onGoToTurn: (turnId: string) => void
}) {
  const { session, artifact } = props
  const { artifacts: desk } = useServices()
  useSignal(desk.changes)
  const { artifactId } = artifact
  const handlers = useArtifactHandlers(session, props)
  return (
    <ArtifactWorkspace
      artifact={artifact}
      successor={props.successor}
      read={desk.versions(artifactId)}
      asked={props.asked}
      draft={desk.draft(artifactId)}
      busy={desk.isSaving(artifactId) || artifact.status === 'saving'}
      refused={desk.refusal(artifactId)}
      diffOf={(from, to) => desk.diff(artifactId, from, to)}
      handlers={handlers}
    />
  )
}
