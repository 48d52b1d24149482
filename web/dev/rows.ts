/** Rows as they come over the wire, for tests and for the development page. Times are in microseconds. */
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

export function sessionRow(change: Partial<wire.SessionRow> = {}): wire.SessionRow {
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

export function statusRow(change: Partial<wire.StatusRow> = {}): wire.StatusRow {
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

export function turnRow(id: string, order: number, change: Partial<wire.TurnRow> = {}): wire.TurnRow {
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

interface Place {
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
}

/** Where a part stands: the `step`-th of a turn that began at `started`. */
export function place(turnId: string, started: number, step: number, key = `run_${turnId}.${step}`): Place {
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

export function textPart(at: Place, text: string, change: Partial<wire.TextPart> = {}): wire.TextPart {
  return { kind: 'assistant_text', ...at, state: 'final', content: { text }, ...change }
}

export function reasoningPart(
  at: Place,
  text: string,
  change: Partial<wire.ReasoningPart> = {},
): wire.ReasoningPart {
  return { kind: 'reasoning_summary', ...at, state: 'final', content: { text }, ...change }
}

export function toolPart(at: Place, tool: string, change: Partial<wire.ToolPart> = {}): wire.ToolPart {
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

export function actionRow(change: Partial<wire.ActionRow> = {}): wire.ActionRow {
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

export function queueRow(id: string, order: number, text: string): wire.QueueRow {
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

export function cardRow(id: string, order: number, change: Partial<wire.SessionCard> = {}): wire.SessionCard {
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

export function workspaceRow(): wire.WorkspaceRow {
  return {
    kind: 'workspace',
    key: WORKSPACE,
    order: 1,
    sequence: 1,
    workspaceId: WORKSPACE,
    path: '/home/ada/atlas',
    name: 'atlas',
  }
}
