/** Props of the context panel for the open thread. */
import type { ContextPanelProps } from '@/features/context/context-panel'
import type { ContextRow } from '@/system/rows/model'
import type { Session } from '@/system/workbench/session'
import type { useSessionRows } from '../rows/use-session-rows'
import { findLeadThread } from '../rows/use-session-rows'
import { useServices } from '../services-context'

export function useContextPanel(
  session: Session,
  view: ReturnType<typeof useSessionRows>,
): ContextPanelProps {
  const { workbench } = useServices()
  const { rows, agent, team, allTurns } = view
  const sessionId = session.id
  const threadId = agent?.threadId ?? findLeadThread(rows, team) ?? null
  const context = findThreadContext(view)
  const busy = allTurns.some(
    (turn) => turn.threadId === threadId && (turn.state === 'running' || turn.state === 'waiting'),
  )
  return {
    context,
    idle: !busy && allTurns.length > 0,
    onPins: (pinned) =>
      workbench.captureRefusal(() => workbench.api.send('set_context', { sessionId, threadId, pinned })),
    onCompact: () =>
      void workbench.attempt(() => workbench.api.send('compact_thread', { sessionId, threadId })),
  }
}

/** Find the latest context of the open thread; null if unknown. */
export function findThreadContext({
  rows,
  agent,
  team,
}: ReturnType<typeof useSessionRows>): ContextRow | null {
  const threadId = agent?.threadId ?? findLeadThread(rows, team)
  return (
    rows
      .getPanel('context')
      .list()
      .find((row) => row.threadId === threadId) ?? null
  )
}
