/** Panels of the details, loaded on demand. They read only while they are open. */
import { ArtifactList } from '@/features/artifact/artifact-list'
import { ContextPanel } from '@/features/context/context-panel'
import { ToolsPanel } from '@/features/tool/tools-panel'
import type { ArtifactRow } from '@/system/rows/model'
import type { Session } from '@/system/workbench/session'
import { useArtifactList } from '../artifact/use-artifacts'
import type { useSessionRows } from '../rows/use-session-rows'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'
import { useContextPanel } from './use-context-panel'
import { useToolsPanel } from './use-tools-panel'

interface OfSession {
  readonly session: Session
  readonly view: ReturnType<typeof useSessionRows>
}

export function ArtifactsPanel(props: {
  readonly session: Session
  readonly artifacts: readonly ArtifactRow[]
  readonly onOpen: (artifactId: string, version: number | null) => void
}) {
  const { session } = props
  const { artifacts } = useServices()
  useSignal(artifacts.changes)
  return (
    <ArtifactList
      artifacts={props.artifacts}
      openId={null}
      draft={artifacts.getNewDraft(session.id)}
      handlers={useArtifactList(session, props.onOpen)}
    />
  )
}

export function SessionContextPanel({ session, view }: OfSession) {
  return <ContextPanel {...useContextPanel(session, view)} />
}

export function SessionToolsPanel({ session, view }: OfSession) {
  return <ToolsPanel {...useToolsPanel(session, view)} />
}
