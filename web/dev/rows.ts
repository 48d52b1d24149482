/** Builders of wire rows, for tests and the development page. Times are in microseconds. */
import type * as wire from '../src/system/generated/contracts'

export const SESSION = 'ses_a'
export const THREAD = 'thr_a'
export const AGENT = 'agt_a'
export const WORKSPACE = 'wks_a'
export const START = 1_795_000_000_000_000
const SECOND = 1_000_000

export function upsert(panel: wire.Panel, row: wire.AnyRow): wire.Op {
  return { op: 'upsert', panel, row }
}

export function append(key: string, field: string, offset: number, text: string): wire.Op {
  return { op: 'append', panel: 'parts', key, field, offset, text }
}

export function buildSessionRow(change: Partial<wire.SessionRow> = {}): wire.SessionRow {
  return {
    kind: 'session',
    key: SESSION,
    order: 1,
    sequence: 1,
    sessionId: SESSION,
    workspaceId: WORKSPACE,
    folder: '/home/ada/atlas',
    title: 'Fix the failing parser test',
    createdAt: START,
    updatedAt: START,
    ...change,
  }
}

export function buildStatusRow(change: Partial<wire.StatusRow> = {}): wire.StatusRow {
  return {
    kind: 'status',
    key: THREAD,
    order: 1,
    sequence: 1,
    threadId: THREAD,
    agentId: AGENT,
    agentName: 'solo',
    status: 'idle',
    detail: 'ready',
    since: START,
    provider: 'openai',
    model: 'gpt-6-mini',
    ...change,
  }
}

export function buildTurnRow(id: string, order: number, change: Partial<wire.TurnRow> = {}): wire.TurnRow {
  return {
    kind: 'turn',
    key: id,
    order,
    sequence: order + 1,
    turnId: id,
    threadId: THREAD,
    agentId: AGENT,
    runId: `run_${id}`,
    state: 'completed',
    input: { text: 'What is in this folder?' },
    mode: 'chat',
    permissionMode: 'ask',
    submittedAt: START + order * SECOND,
    startedAt: START + order * SECOND,
    endedAt: START + (order + 12) * SECOND,
    ...change,
  }
}

interface Position {
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
}

/** Key, order and time of the part at `step` of a turn that began at `started`. */
export function buildPosition(
  turnId: string,
  started: number,
  step: number,
  key = `run_${turnId}.${step}`,
): Position {
  const order = started * 2 ** 20 + step
  return {
    key,
    order,
    sequence: started + step,
    turnId,
    threadId: THREAD,
    at: START + (started + step) * SECOND,
  }
}

export function buildTextPart(
  at: Position,
  text: string,
  change: Partial<wire.TextPart> = {},
): wire.TextPart {
  return { kind: 'assistant_text', ...at, state: 'final', content: { text }, ...change }
}

export function buildReasoningPart(
  at: Position,
  text: string,
  change: Partial<wire.ReasoningPart> = {},
): wire.ReasoningPart {
  return { kind: 'reasoning_summary', ...at, state: 'final', content: { text }, ...change }
}

export function buildToolPart(
  at: Position,
  tool: string,
  change: Partial<wire.ToolPart> = {},
): wire.ToolPart {
  return {
    kind: 'tool_call',
    ...at,
    toolCallId: at.key,
    tool,
    state: 'output-available',
    durationMs: 42,
    startedAt: at.at,
    verdict: 'allow',
    checks: [
      { name: 'tools', verdict: 'allow' },
      { name: 'paths', verdict: 'allow', detail: 'inside the folder' },
    ],
    sandbox: tool === 'Bash' ? 'bubblewrap' : 'paths',
    ...change,
  }
}

export function buildActionRow(change: Partial<wire.ActionRow> = {}): wire.ActionRow {
  return {
    kind: 'action',
    key: 'act_a',
    order: 40,
    sequence: 40,
    actionId: 'act_a',
    actionType: 'tool_approval',
    turnId: 'trn_a',
    threadId: THREAD,
    agentId: AGENT,
    toolCallId: 'cal_a',
    tool: 'Bash',
    prompt: '',
    decisions: ['approve', 'reject'],
    scopes: ['once', 'session', 'workspace'],
    requiredAt: START,
    ...change,
  }
}

export function buildQueueRow(id: string, order: number, text: string): wire.QueueRow {
  return {
    kind: 'queued_turn',
    key: id,
    order,
    sequence: order,
    turnId: id,
    threadId: THREAD,
    input: { text },
    mode: 'chat',
    submittedAt: START,
  }
}

export function buildCardRow(
  id: string,
  order: number,
  change: Partial<wire.SessionCard> = {},
): wire.SessionCard {
  return {
    kind: 'session_card',
    key: id,
    order,
    sequence: order,
    sessionId: id,
    workspaceId: WORKSPACE,
    title: 'Fix the failing parser test',
    state: 'idle',
    updatedAt: START + order * SECOND,
    ...change,
  }
}

export function buildWorkspaceRow(more: Partial<wire.WorkspaceRow> = {}): wire.WorkspaceRow {
  return {
    kind: 'workspace',
    key: WORKSPACE,
    order: 1,
    sequence: 1,
    workspaceId: WORKSPACE,
    path: '/home/ada/atlas',
    name: 'atlas',
    ...more,
  }
}

type Row<R extends wire.AnyRow> = Partial<R> & { readonly key: string }
const KEYED = { order: 1, sequence: 1 } as const

export function buildTeamRow(change: Partial<wire.TeamRow> = {}): wire.TeamRow {
  return {
    kind: 'team',
    key: 'team',
    ...KEYED,
    name: 'atlas',
    lead: 'coordinator',
    owner: 'coordinator',
    topology: 'coordinator_team',
    teamPhase: 'active',
    teamParallelBudget: 8,
    teamActiveCount: 2,
    ...change,
  }
}

/** An agent whose id and name are the key, and whose thread is `thr_` plus the key. */
export function buildAgentRow(change: Row<wire.AgentRow>): wire.AgentRow {
  const { key } = change
  return {
    kind: 'agent',
    ...KEYED,
    agentId: key,
    name: key,
    threadId: `thr_${key}`,
    agentKind: 'subagent',
    role: 'executor',
    state: 'running',
    definition: key.replace(/-\d+$/, ''),
    connection: 'connected',
    ...change,
  }
}

export function buildEdgeRow(
  edgeType: wire.EdgeRow['edgeType'],
  source: string,
  target: string,
  change: Partial<wire.EdgeRow> = {},
): wire.EdgeRow {
  return {
    kind: 'edge',
    key: `${edgeType}:${source}>${target}`,
    ...KEYED,
    edgeType,
    source,
    target,
    ...change,
  }
}

export function buildTaskRow(change: Row<wire.TaskRow>): wire.TaskRow {
  return { kind: 'task', ...KEYED, title: change.key, status: 'open', created: START, ...change }
}

export function buildHandoffRow(change: Row<wire.HandoffRow>): wire.HandoffRow {
  return {
    kind: 'handoff',
    ...KEYED,
    source: 'coordinator',
    target: 'database',
    edge: 'handoff',
    state: 'handoff_requested',
    payload: { message: 'The migration is yours from here.' },
    requested: START,
    ...change,
  }
}

export function buildNotificationRow(change: Row<wire.NotificationRow>): wire.NotificationRow {
  return {
    kind: 'notification',
    ...KEYED,
    agentId: 'worker-1',
    parentAgentId: 'coordinator',
    taskId: 'tsk_1',
    status: 'completed',
    summary: 'The lexer is read once.',
    at: START,
    ...change,
  }
}

export function buildReviewRow(change: Row<wire.ReviewRow>): wire.ReviewRow {
  return {
    kind: 'review',
    ...KEYED,
    reviewer: 'reviewer',
    target: 'worker-1',
    taskId: 'tsk_1',
    state: 'requested',
    requested: START,
    ...change,
  }
}

export function buildMessageRow(change: Row<wire.MessageRow>): wire.MessageRow {
  return {
    kind: 'message',
    ...KEYED,
    channelId: 'chn_a',
    source: 'coordinator',
    participants: ['coordinator', 'database'],
    text: { text: 'Which tables does the import touch?' },
    at: START,
    ...change,
  }
}

export function runRow(change: Row<wire.RunRow>): wire.RunRow {
  return {
    kind: 'run',
    ...KEYED,
    agentId: 'coordinator',
    agentKind: 'main',
    threadId: 'thr_coordinator',
    turnId: 'trn_a',
    status: 'completed',
    started: START,
    ended: START + 12 * SECOND,
    ...change,
  }
}
