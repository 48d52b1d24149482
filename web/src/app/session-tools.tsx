/** The panel of tools, apart from the rest of the page: it asks only while somebody looks. */
import { ToolsPanel } from '@/features/inspector/tools-panel'
import type { Session } from '@/system/workbench/session'
import type { useSessionRows } from './use-session-rows'
import { useTools } from './use-tools'

export default function SessionTools(props: {
  readonly session: Session
  readonly view: ReturnType<typeof useSessionRows>
}) {
  return <ToolsPanel {...useTools(props.session, props.view)} />
}
