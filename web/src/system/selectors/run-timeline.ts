/** The events of one run in order of time. */
import type { Part, RunRow, ToolPart } from '../rows/model'
import { findAgentName, type Team } from './team'

export type Moment =
  | { readonly kind: 'started'; readonly key: string; readonly at: number }
  | { readonly kind: 'ended'; readonly key: string; readonly at: number; readonly run: RunRow }
  | { readonly kind: 'tool'; readonly key: string; readonly at: number; readonly part: ToolPart }
  | { readonly kind: 'spawned'; readonly key: string; readonly at: number; readonly agent: string }
  | {
      readonly kind: 'returned'
      readonly key: string
      readonly at: number
      readonly agent: string
      readonly status: Team['notifications'][number]['status']
      readonly summary: string
    }
  | {
      readonly kind: 'handoff'
      readonly key: string
      readonly at: number
      readonly agent: string
      readonly out: boolean
      readonly message: string
    }
  | {
      readonly kind: 'text'
      readonly key: string
      readonly at: number
      readonly part: Exclude<Part, ToolPart>
    }

export type MomentGroup = 'run' | 'tools' | 'team' | 'messages'

export const GROUPS: Readonly<Record<Moment['kind'], MomentGroup>> = {
  started: 'run',
  ended: 'run',
  tool: 'tools',
  spawned: 'team',
  returned: 'team',
  handoff: 'team',
  text: 'messages',
}

export function buildTimeline(run: RunRow, team: Team, parts: readonly Part[]): readonly Moment[] {
  const isDuringRun = (at: number) => at > 0 && at >= run.started && (run.ended === 0 || at <= run.ended)
  const moments: Moment[] = []
  if (run.started > 0) moments.push({ kind: 'started', key: 'started', at: run.started })
  for (const part of parts) {
    // The team's rows already list this message as sent.
    if (!isDuringRun(part.at) || part.kind === 'worker_notification' || part.kind === 'agent_handoff')
      continue
    if (part.kind === 'tool_call') moments.push({ kind: 'tool', key: part.key, at: part.at, part })
    else moments.push({ kind: 'text', key: part.key, at: part.at, part })
  }
  moments.push(...listTeamMoments(run, team, isDuringRun))
  if (run.ended > 0) moments.push({ kind: 'ended', key: 'ended', at: run.ended, run })
  return moments.toSorted((a, b) => sortRank(a) - sortRank(b) || a.at - b.at)
}

/** The start of a run precedes, and its end follows, other events of the same time. */
function sortRank(moment: Moment): number {
  return moment.kind === 'started' ? -1 : moment.kind === 'ended' ? 1 : 0
}

function listTeamMoments(run: RunRow, team: Team, isDuringRun: (at: number) => boolean): readonly Moment[] {
  const { agents, tasks, notifications, handoffs } = team
  const spawned = agents
    .filter((agent) => agent.parentRunId === run.key)
    .map((agent): Moment => {
      const created = tasks.find((task) => task.key === agent.taskId)?.created ?? 0
      return { kind: 'spawned', key: `spawned ${agent.key}`, at: created, agent: agent.name }
    })
  const returned = notifications
    .filter((notification) => notification.parentAgentId === run.agentId && isDuringRun(notification.at))
    .map((notification): Moment => {
      const { key, at, status, summary } = notification
      return {
        kind: 'returned',
        key,
        at,
        agent: findAgentName(agents, notification.agentId),
        status,
        summary,
      }
    })
  const handoffMoments = handoffs
    .filter(
      (handoff) =>
        (handoff.source === run.agentId || handoff.target === run.agentId) && isDuringRun(handoff.requested),
    )
    .map((handoff): Moment => {
      const out = handoff.source === run.agentId
      const agent = findAgentName(agents, out ? handoff.target : handoff.source)
      return {
        kind: 'handoff',
        key: handoff.key,
        at: handoff.requested,
        agent,
        out,
        message: handoff.payload.message,
      }
    })
  return [...spawned, ...returned, ...handoffMoments]
}

/** The text of a moment that a filter searches. */
export function getSearchText(moment: Moment): string {
  switch (moment.kind) {
    case 'tool':
      return `${moment.part.tool} ${moment.part.summary}`
    case 'spawned':
      return moment.agent
    case 'returned':
      return `${moment.agent} ${moment.summary}`
    case 'handoff':
      return `${moment.agent} ${moment.message}`
    case 'text':
      return getPartText(moment.part)
    case 'started':
    case 'ended':
      return ''
  }
}

/** A part as one line of text. */
export function getPartText(part: Exclude<Part, ToolPart>): string {
  switch (part.kind) {
    case 'assistant_text':
    case 'reasoning_summary':
    case 'user_text':
      return part.content.text
    case 'action_required':
      return part.tool
    case 'plan':
      return (part.steps.find((step) => step.status === 'in_progress') ?? part.steps.at(-1))?.content ?? ''
    case 'worker_notification':
      return part.summary
    case 'remote_agent_status':
      return part.message.text
    case 'artifact_ref':
      return part.title
    case 'agent_handoff':
    case 'context_event':
    case 'runtime_status':
    case 'error':
      return part.message
  }
}
