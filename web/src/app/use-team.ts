/** The team of a session as the surfaces want it, and what a person can do with it. */
import { useMemo } from 'react'
import type { TeamHandlers } from '@/features/team/handlers'
import type { RowStore } from '@/system/rows/store'
import { agentOf, type Team, teamOf } from '@/system/rows/team'
import type { Session } from '@/system/workbench/session'
import { useServices } from './services-context'

/** Null where one agent works alone: nothing pretends to a team. */
export function useTeam(rows: RowStore): Team | null {
  const row = rows.panel('team').all()[0] ?? null
  const [agents, edges, tasks] = [
    rows.panel('agents').all(),
    rows.panel('edges').all(),
    rows.panel('tasks').all(),
  ]
  const [handoffs, reviews] = [rows.panel('handoffs').all(), rows.panel('reviews').all()]
  const [notifications, messages] = [rows.panel('notifications').all(), rows.panel('messages').all()]
  const runs = rows.panel('runs').all()
  return useMemo(() => {
    return teamOf(row, { agents, edges, tasks, handoffs, reviews, notifications, messages, runs })
  }, [row, agents, edges, tasks, handoffs, reviews, notifications, messages, runs])
}

/** The thread that a person talks with: the lead's, or of an agent alone its own. */
export function leadThread(rows: RowStore, team: Team | null): string | null {
  const lead = team === null ? null : agentOf(team.agents, team.row.lead)
  return lead?.threadId ?? rows.panel('status').all()[0]?.threadId ?? null
}

export function useTeamHandlers(session: Session, onOpenAgent: (agentId: string) => void): TeamHandlers {
  const { workbench } = useServices()
  const sessionId = session.id
  return useMemo(() => {
    const { api } = workbench
    const attempt = (work: () => Promise<unknown>) => workbench.attempt(work)
    return {
      onOpenAgent,
      onStop: (agent) => {
        const { agentId, threadId, latestTurn: turnId } = agent
        const stop = () =>
          agent.agentKind === 'subagent'
            ? api.command('cancel_subagent', { sessionId, agent: agentId })
            : api.command('interrupt_turn', { sessionId, threadId, turnId })
        void attempt(stop)
      },
      onClose: (agent) =>
        void attempt(() => api.command('close_subagent', { sessionId, agent: agent.agentId })),
      onInput: (agent, text) =>
        attempt(() =>
          agent.agentKind === 'subagent'
            ? api.command('send_subagent_input', { sessionId, agent: agent.agentId, text })
            : api.command('submit_turn', { sessionId, threadId: agent.threadId, text, whenBusy: 'queue' }),
        ),
      onAnswerHandoff: (handoffId, decision, reason) =>
        void attempt(() => api.command('respond_handoff', { sessionId, handoffId, decision, reason })),
      onApplyReview: (reviewId, assignee) =>
        void attempt(() => api.command('apply_review', { sessionId, reviewId, assignee })),
      onChangeTask: (taskId, change) =>
        void attempt(() => api.command('update_task', { sessionId, taskId, ...change })),
    } satisfies TeamHandlers
  }, [workbench, sessionId, onOpenAgent])
}
