/** Panels of the details that are asked for by few, apart from the rest of the page. They read only while somebody looks. */
import { ArtifactList } from '@/features/artifacts/artifact-list'
import { ContextPanel } from '@/features/context/context-panel'
import { ToolsPanel } from '@/features/inspector/tools-panel'
import type { Session } from '@/system/workbench/session'
import type { OpenArtifact } from './use-artifacts'
import { useContextPanel } from './use-context'
import type { useSessionRows } from './use-session-rows'
import { useTools } from './use-tools'

interface OfSession {
  readonly session: Session
  readonly view: ReturnType<typeof useSessionRows>
}

export function ArtifactsPanel({ artifacts }: { readonly artifacts: OpenArtifact }) {
  return (
    <ArtifactList
      artifacts={artifacts.all}
      shown={null}
      onOpen={(artifactId) => artifacts.reader.onOpen(artifactId, null)}
    />
  )
}

export function ContextOfSession({ session, view }: OfSession) {
  return <ContextPanel {...useContextPanel(session, view)} />
}

export function SessionTools({ session, view }: OfSession) {
  return <ToolsPanel {...useTools(session, view)} />
}
