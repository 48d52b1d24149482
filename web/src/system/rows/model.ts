/**
 * Rows as the page reads them. On the wire a field that has its default is absent; here every field is present,
 * so that nothing above this file asks whether one is missing.
 */
import type * as wire from '../generated/contracts'
import {
  type Attempt,
  asAttempts,
  asBackground,
  asRemote,
  asText,
  type Background,
  NO_TEXT,
  NO_USAGE,
  type Remote,
  type Text,
} from './nested'

export {
  type Attempt,
  asText,
  type Background,
  type Delivery,
  type Remote,
  type Text,
  type Usage,
} from './nested'

/** What an absent field means, by the kind of row. A field that is absent here is always on the wire. */
const DEFAULTS = {
  session: { archived: false },
  session_card: {
    attention: 'none' as wire.Attention,
    pendingActions: 0,
    queued: 0,
    turns: 0,
    updatedAt: 0,
    pinned: false,
    archived: false,
    lastText: '',
    epoch: 0,
  },
  workspace: {},
  turn: {
    runId: '',
    input: NO_TEXT,
    startedAt: 0,
    endedAt: 0,
    waitedUs: 0,
    waitingSince: 0,
    iterations: 0,
    toolCalls: 0,
    filesChanged: 0,
    inputTokens: null as number | null,
    outputTokens: null as number | null,
    code: '',
    message: '',
    hint: '',
    finalParts: [] as readonly string[],
    source: 'person' as NonNullable<wire.TurnRow['source']>,
  },
  assistant_text: { content: NO_TEXT, commentary: false, revised: false },
  reasoning_summary: { content: NO_TEXT },
  tool_call: {
    summary: '',
    arguments: NO_TEXT,
    output: NO_TEXT,
    code: '',
    message: '',
    exitCode: null as number | null,
    durationMs: 0,
    startedAt: 0,
    changes: [] as readonly wire.FileChange[],
    verdict: '',
    risk: 'none' as wire.Risk,
    checks: [] as readonly wire.Check[],
    sandbox: '',
    network: false,
    actionId: '',
  },
  action_required: {
    answeredScope: null as wire.ApprovalScope | null,
    answer: NO_TEXT,
    reason: '',
    actor: '',
    settledAt: 0,
  },
  user_text: { content: NO_TEXT, reason: '' },
  runtime_status: { hint: '', agentId: '', retryInMs: null as number | null },
  plan: {},
  worker_notification: { transcript: '' },
  agent_handoff: { ownership: false, news: 'requested' as NonNullable<wire.HandoffPart['news']> },
  remote_agent_status: { message: NO_TEXT, artifacts: [] as readonly string[] },
  error: { hint: '', retryable: false },
  action: {
    toolCallId: '',
    tool: '',
    arguments: NO_TEXT,
    preview: null as Text | null,
    change: null as wire.AskedChange | null,
    risk: 'none' as wire.Risk,
    scopes: [] as readonly wire.ApprovalScope[],
    matchers: {} as Readonly<Record<string, string>>,
    policy: '',
    expiresAt: 0,
  },
  queued_turn: { input: NO_TEXT },
  status: {
    turnId: '',
    runId: '',
    tool: '',
    provider: '',
    model: '',
    iteration: 0,
    maxIters: 0,
    paused: null as wire.PauseCause | null,
    epoch: 0,
    inputTokens: null as number | null,
    outputTokens: null as number | null,
  },
  team: {
    teamPhase: null as NonNullable<wire.TeamRow['teamPhase']> | null,
    teamParallelBudget: 0,
    teamActiveCount: 0,
    teamQueuedCount: 0,
    providerConcurrencyGroup: '',
    providerParallelBudget: 0,
    queueReason: null as QueueReason | null,
    retryableOverload: false,
    degraded: [] as readonly Degraded[],
    synthesisTurn: '',
  },
  agent: {
    definition: '',
    description: '',
    color: '',
    model: '',
    provider: '',
    parentThreadId: '',
    parentAgentId: '',
    parentRunId: '',
    taskId: '',
    spawnReason: '',
    objective: NO_TEXT,
    isolation: 'shared' as NonNullable<wire.AgentRow['isolation']>,
    workGlobs: [] as readonly string[],
    worktree: '',
    branch: '',
    permissionMode: '',
    policy: [] as NonNullable<wire.AgentRow['policy']>,
    connection: 'idle' as NonNullable<wire.AgentRow['connection']>,
    providerSessionId: '',
    lastActivity: 0,
    activity: 'ready' as wire.StatusDetail,
    tool: '',
    epoch: 0,
    latestTurn: '',
    latestTurnStatus: '',
    currentRun: '',
    queuedTurns: 0,
    inbox: 0,
    blockedOn: '',
    queueReason: null as QueueReason | null,
    queuePosition: 0,
    stalledSince: 0,
    degraded: [] as readonly Degraded[],
    usage: NO_USAGE,
    result: NO_TEXT,
    background: null as Background | null,
    remote: null as Remote | null,
  },
  edge: {
    direction: 'to' as NonNullable<wire.EdgeRow['direction']>,
    edgeKind: null as NonNullable<wire.EdgeRow['edgeKind']> | null,
    confirm: false,
    ownership: false,
  },
  task: {
    objective: NO_TEXT,
    assignee: '',
    parentTask: '',
    dependsOn: [] as readonly string[],
    priority: 'normal' as NonNullable<wire.TaskRow['priority']>,
    acceptance: '',
    blocker: '',
    progress: '',
    summary: '',
    comments: [] as readonly wire.Comment[],
    attempts: [] as readonly Attempt[],
    refs: [] as readonly wire.Ref[],
    entity: 'work_item' as NonNullable<wire.TaskRow['entity']>,
    paused: false,
    phase: '',
    counters: {} as Readonly<Record<string, number>>,
    created: 0,
    ended: 0,
  },
  handoff: {
    contextRef: '',
    meta: null as Readonly<Record<string, unknown>> | null,
    reason: '',
    answerReason: '',
    confirm: false,
    ownership: false,
    resumeTarget: '',
    contextBoundary: 0,
    requested: 0,
    accepted: 0,
    ended: 0,
    replyBy: 0,
    reply: '' as NonNullable<wire.HandoffRow['reply']>,
  },
  notification: { result: NO_TEXT, transcript: '', usage: NO_USAGE, at: 0, consumed: false },
  review: {
    instructions: NO_TEXT,
    summary: '',
    refs: [] as readonly wire.Ref[],
    fixes: [] as readonly wire.Fix[],
    assignedTo: '',
    requested: 0,
    judged: 0,
  },
  message: { at: 0 },
  run: {
    parentRunId: '',
    taskId: '',
    detail: '',
    started: 0,
    ended: 0,
    epoch: 0,
    usage: NO_USAGE,
    prompts: [] as readonly wire.PromptRef[],
  },
} as const

export type Degraded = NonNullable<wire.AgentRow['degraded']>[number]
export type QueueReason = NonNullable<wire.AgentRow['queueReason']>

type Kind = keyof typeof DEFAULTS
/** A field that is empty by default may hold any text, one that is 0 any number. */
type Widened<T> = T extends '' ? string : T extends 0 ? number : T extends false ? boolean : T
type Filled<W extends { readonly kind: Kind }> = Omit<W, keyof (typeof DEFAULTS)[W['kind']]> & {
  readonly [F in keyof (typeof DEFAULTS)[W['kind']]]: Widened<(typeof DEFAULTS)[W['kind']][F]>
}

export type SessionRow = Filled<wire.SessionRow>
export type SessionCard = Filled<wire.SessionCard>
export type WorkspaceRow = Filled<wire.WorkspaceRow>
export type TurnRow = Filled<wire.TurnRow>
export type TextPart = Filled<wire.TextPart>
export type ReasoningPart = Filled<wire.ReasoningPart>
export type ToolPart = Filled<wire.ToolPart>
export type ActionPart = Filled<wire.ActionPart>
export type SteerPart = Filled<wire.SteerPart>
export type NoticePart = Filled<wire.NoticePart>
export type PlanPart = Filled<wire.PlanPart>
export type NotificationPart = Filled<wire.NotificationPart>
export type HandoffPart = Filled<wire.HandoffPart>
export type RemoteStatusPart = Filled<wire.RemoteStatusPart>
export type ErrorPart = Filled<wire.ErrorPart>
export type ActionRow = Filled<wire.ActionRow>
export type QueueRow = Filled<wire.QueueRow>
export type StatusRow = Filled<wire.StatusRow>
export type TeamRow = Filled<wire.TeamRow>
export type AgentRow = Filled<wire.AgentRow>
export type EdgeRow = Filled<wire.EdgeRow>
export type TaskRow = Filled<wire.TaskRow>
export type HandoffRow = Omit<Filled<wire.HandoffRow>, 'reply'> & {
  readonly reply: NonNullable<wire.HandoffRow['reply']>
}
export type NotificationRow = Filled<wire.NotificationRow>
export type ReviewRow = Filled<wire.ReviewRow>
export type MessageRow = Filled<Omit<wire.MessageRow, 'text'>> & { readonly text: Text }
export type RunRow = Filled<wire.RunRow>
export type Part =
  | TextPart
  | ReasoningPart
  | ToolPart
  | ActionPart
  | SteerPart
  | NoticePart
  | PlanPart
  | NotificationPart
  | HandoffPart
  | RemoteStatusPart
  | ErrorPart

/** The rows of each panel, as they are read. */
export interface Panels {
  readonly session: SessionRow
  readonly status: StatusRow
  readonly turns: TurnRow
  readonly parts: Part
  readonly queue: QueueRow
  readonly actions: ActionRow
  readonly team: TeamRow
  readonly agents: AgentRow
  readonly tasks: TaskRow
  readonly edges: EdgeRow
  readonly notifications: NotificationRow
  readonly handoffs: HandoffRow
  readonly reviews: ReviewRow
  readonly messages: MessageRow
  readonly runs: RunRow
  readonly workspaces: WorkspaceRow
  readonly sessions: SessionCard
}

export type Panel = keyof Panels
export type AnyRow = Panels[Panel]

const TEXT_FIELDS = [
  'content',
  'input',
  'arguments',
  'output',
  'preview',
  'objective',
  'result',
  'instructions',
  'text',
  'message',
  'answer',
] as const

/** A row of the wire with every field present. A kind that this version does not know gives null: it is not shown. */
export function fill(row: wire.AnyRow): AnyRow | null {
  const defaults: object | undefined = (DEFAULTS as Readonly<Record<string, object | undefined>>)[row.kind]
  if (defaults === undefined) return null
  const filled: Record<string, unknown> = { ...defaults, ...row }
  for (const field of TEXT_FIELDS) {
    const value = filled[field]
    if (typeof value === 'object' && value !== null) filled[field] = asText(value as wire.Text)
  }
  if (row.kind === 'agent') {
    filled.background = asBackground(row.background)
    filled.remote = asRemote(row.remote)
  }
  if (row.kind === 'task') filled.attempts = asAttempts(row.attempts)
  if (filled.usage !== undefined) filled.usage = { ...NO_USAGE, ...(filled.usage as wire.WorkUsage) }
  return filled as unknown as AnyRow
}
