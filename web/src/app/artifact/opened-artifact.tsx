/** The workspace of the open artifact, loaded on demand. */
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
  readonly version: number | null
  readonly onOpen: (artifactId: string, version: number | null) => void
  readonly onClose: () => void
  readonly onGoToTurn: (turnId: string) => void
}) {
  const { session, artifact } = props
  const { artifacts } = useServices()
  useSignal(artifacts.changes)
  const { artifactId } = artifact
  const handlers = useArtifactHandlers(session, props)
  return (
    <ArtifactWorkspace
      artifact={artifact}
      successor={props.successor}
      read={artifacts.getVersions(artifactId)}
      version={props.version}
      draft={artifacts.getDraft(artifactId)}
      busy={artifacts.isSaving(artifactId) || artifact.status === 'saving'}
      refusal={artifacts.getRefusal(artifactId)}
      getDiff={(from, to) => artifacts.getDiff(artifactId, from, to)}
      handlers={handlers}
    />
  )
}
