/** The handlers of a team. */
import { useMemo } from 'react'
import type { AgentOffer, MergeOutcome, TeamHandlers } from '@/features/shared/team-handlers'
import type { ApiClient } from '@/system/api/client'
import type { AgentRow } from '@/system/rows/model'
import type { RowStore } from '@/system/rows/row-store'
import type { Session } from '@/system/workbench/session'
import type { Workbench } from '@/system/workbench/workbench'
import { useServices } from '../services-context'

export function useTeamHandlers(
  session: Session,
  open: {
    readonly agent: (agentId: string) => void
    readonly run: (runId: string) => void
    readonly job: (taskId: string) => void
    readonly openNewJob: () => void
  },
): TeamHandlers {
  const { workbench } = useServices()
  const sessionId = session.id
  return useMemo(() => {
    const { api } = workbench
    const attempt = (work: () => Promise<unknown>) => workbench.attempt(work)
    const rows = session.feed.rows
    return {
      onOpenAgent: open.agent,
      onOpenRun: open.run,
      onStop: (agent) => {
        const { agentId, threadId, latestTurn: turnId } = agent
        const stop = () =>
          agent.agentKind === 'subagent'
            ? api.send('cancel_subagent', { sessionId, agent: agentId })
            : api.send('interrupt_turn', { sessionId, threadId, turnId })
        void attempt(stop)
      },
      onResume: ({ threadId }) => void attempt(() => api.send('resume_thread', { sessionId, threadId })),
      onClose: (agent) => void attempt(() => api.send('close_subagent', { sessionId, agent: agent.agentId })),
      onInput: (agent, text) =>
        attempt(() =>
          agent.agentKind === 'subagent'
            ? api.send('send_subagent_input', { sessionId, agent: agent.agentId, text })
            : api.send('submit_turn', { sessionId, threadId: agent.threadId, text, whenBusy: 'queue' }),
        ),
      onRetryAgent: (agent) => void attempt(() => retryAgent(api, sessionId, rows, agent)),
      onOffers: () => readAgentOffers(workbench, sessionId),
      onAddAgent: (name) => workbench.captureRefusal(() => api.send('add_agent', { sessionId, agent: name })),
      onMerge: async (agent) => {
        let merged: MergeOutcome | null = null
        await attempt(async () => {
          merged = await api.send('merge_subagent', { sessionId, agent: agent.agentId })
        })
        return merged
      },
      onAnswerHandoff: (handoffId, decision, reason) =>
        void attempt(() => api.send('respond_handoff', { sessionId, handoffId, decision, reason })),
      onApplyReview: (reviewId, assignee) =>
        void attempt(() => api.send('apply_review', { sessionId, reviewId, assignee })),
      onChangeTask: (taskId, change) =>
        void attempt(() => api.send('update_task', { sessionId, taskId, ...change })),
      onNewTask: (task) => workbench.captureRefusal(() => api.send('create_task', { sessionId, ...task })),
      onStartTask: (taskId) => void attempt(() => api.send('start_task', { sessionId, taskId })),
      onPauseTask: (taskId) => void attempt(() => api.send('pause_task', { sessionId, taskId })),
      onResumeTask: (taskId) => void attempt(() => api.send('resume_task', { sessionId, taskId })),
      onRetryTask: (taskId) => void attempt(() => api.send('retry_task', { sessionId, taskId })),
      onCancelTask: (taskId) => void attempt(() => api.send('cancel_task', { sessionId, taskId })),
      onAskJob: open.openNewJob,
      onOpenJob: open.job,
      onPauseJob: (jobId) => void attempt(() => api.send('pause_job', { sessionId, jobId })),
      onResumeJob: (jobId) => void attempt(() => api.send('resume_job', { sessionId, jobId })),
      onCancelJob: (jobId) => void attempt(() => api.send('cancel_job', { sessionId, jobId })),
      onRetryItems: (jobId, itemId) =>
        void attempt(() => api.send('retry_job_item', { sessionId, jobId, itemId })),
      onExportTask: (taskId) => void attempt(() => workbench.evidence.export(sessionId, taskId)),
    } satisfies TeamHandlers
  }, [workbench, session, sessionId, open])
}

/** Read the agents that can be added to a session; none on failure. */
export async function readAgentOffers(
  workbench: Workbench,
  sessionId: string,
): Promise<readonly AgentOffer[]> {
  let offers: readonly AgentOffer[] = []
  await workbench.attempt(async () => {
    const { agents } = await workbench.api.query('list_agents', { sessionId })
    offers = agents.filter((agent) => agent.kind !== 'subagent' && !agent.added)
  })
  return offers
}

/** Retry an unreachable agent: resume its thread if it is paused, else resend its last input. */
async function retryAgent(
  api: ApiClient,
  sessionId: string,
  rows: RowStore,
  agent: AgentRow,
): Promise<unknown> {
  const { threadId } = agent
  const paused = rows.getPanel('status').get(threadId)?.paused ?? null
  if (paused !== null && agent.queuedTurns > 0) return api.send('resume_thread', { sessionId, threadId })
  const input = rows.getPanel('turns').get(agent.latestTurn)?.input
  const text = input?.ref === null ? input.text : ''
  if (text === '') return api.send('resume_thread', { sessionId, threadId })
  return api.send('submit_turn', { sessionId, threadId, text, whenBusy: 'queue' })
}
