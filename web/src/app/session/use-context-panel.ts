/** What the thread on the screen is given, and what a person can change of it. */
import type { ContextPanelProps } from '@/features/context/context-panel'
import type { Session } from '@/system/workbench/session'
import { contextOf } from '../rows/thread-context'
import type { useSessionRows } from '../rows/use-session-rows'
import { leadThread } from '../rows/use-team'
import { useServices } from '../services-context'

export function useContextPanel(
  session: Session,
  view: ReturnType<typeof useSessionRows>,
): ContextPanelProps {
  const { workbench } = useServices()
  const { rows, agent, team, allTurns } = view
  const sessionId = session.id
  const threadId = agent?.threadId ?? leadThread(rows, team) ?? null
  const context = contextOf(view)
  const busy = allTurns.some(
    (turn) => turn.threadId === threadId && (turn.state === 'running' || turn.state === 'waiting'),
  )
  return {
    context,
    idle: !busy && allTurns.length > 0,
    onPins: (pinned) =>
      workbench.captureRefusal(() => workbench.api.command('set_context', { sessionId, threadId, pinned })),
    onCompact: () =>
      void workbench.attempt(() => workbench.api.command('compact_thread', { sessionId, threadId })),
  }
}
