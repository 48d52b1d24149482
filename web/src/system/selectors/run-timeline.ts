/** What happened in one run, in the order of time: its own facts and no other run's. Pure. */
import type { Part, RunRow, ToolPart } from '../rows/model'
import { nameOf, type Team } from './team'

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

export function timeline(run: RunRow, team: Team, parts: readonly Part[]): readonly Moment[] {
  const within = (at: number) => at > 0 && at >= run.started && (run.ended === 0 || at <= run.ended)
  const moments: Moment[] = []
  if (run.started > 0) moments.push({ kind: 'started', key: 'started', at: run.started })
  for (const part of parts) {
    // What a turn was told stands there already as what was sent.
    if (!within(part.at) || part.kind === 'worker_notification' || part.kind === 'agent_handoff') continue
    if (part.kind === 'tool_call') moments.push({ kind: 'tool', key: part.key, at: part.at, part })
    else moments.push({ kind: 'text', key: part.key, at: part.at, part })
  }
  moments.push(...ofTeam(run, team, within))
  if (run.ended > 0) moments.push({ kind: 'ended', key: 'ended', at: run.ended, run })
  return moments.toSorted((a, b) => place(a) - place(b) || a.at - b.at)
}

/** A run begins before all else that bears its time, and ends after it. */
function place(moment: Moment): number {
  return moment.kind === 'started' ? -1 : moment.kind === 'ended' ? 1 : 0
}

function ofTeam(run: RunRow, team: Team, within: (at: number) => boolean): readonly Moment[] {
  const { agents, tasks, notifications, handoffs } = team
  const spawned = agents
    .filter((agent) => agent.parentRunId === run.key)
    .map((agent): Moment => {
      const created = tasks.find((task) => task.key === agent.taskId)?.created ?? 0
      return { kind: 'spawned', key: `spawned ${agent.key}`, at: created, agent: agent.name }
    })
  const returned = notifications
    .filter((notification) => notification.parentAgentId === run.agentId && within(notification.at))
    .map((notification): Moment => {
      const { key, at, status, summary } = notification
      return { kind: 'returned', key, at, agent: nameOf(agents, notification.agentId), status, summary }
    })
  const handed = handoffs
    .filter(
      (handoff) =>
        (handoff.source === run.agentId || handoff.target === run.agentId) && within(handoff.requested),
    )
    .map((handoff): Moment => {
      const out = handoff.source === run.agentId
      const agent = nameOf(agents, out ? handoff.target : handoff.source)
      return {
        kind: 'handoff',
        key: handoff.key,
        at: handoff.requested,
        agent,
        out,
        message: handoff.payload.message,
      }
    })
  return [...spawned, ...returned, ...handed]
}

/** The words of a moment that a filter looks in. */
export function wordsOf(moment: Moment): string {
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
      return textOf(moment.part)
    case 'started':
    case 'ended':
      return ''
  }
}

/** A part in one line of words. */
export function textOf(part: Exclude<Part, ToolPart>): string {
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
