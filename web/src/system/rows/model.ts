/**
 * Rows with every field present. On the wire, a field that has its default is absent; no code above
 * this file checks for absent fields.
 */
import type * as wire from '../generated/contracts'
import { DEFAULTS } from './defaults'
import {
  NO_USAGE,
  readAttempts,
  readBackground,
  readExports,
  readRemote,
  readText,
  readVersions,
  type Text,
} from './nested-entries'

export type { Degraded, QueueReason } from './defaults'
/** Whether a turn is part of the conversation. A queued or removed turn is not. */
export function hasBegun(turn: TurnRow): boolean {
  return turn.state !== 'queued' && turn.state !== 'removed'
}

/** The first turn that has begun. Queued turns may precede it. */
export function findFirstBegun(turns: readonly TurnRow[]): TurnRow | undefined {
  return turns.find(hasBegun)
}

export {
  type Attempt,
  type Background,
  type Delivery,
  type Export,
  type Remote,
  readText,
  type Text,
  type Usage,
  type Version,
} from './nested-entries'

type Kind = keyof typeof DEFAULTS
/** The default '' stands for any string, 0 for any number. */
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
export type ContextPart = Filled<wire.ContextPart>
export type ArtifactPart = Filled<wire.ArtifactPart>
export type ErrorPart = Filled<wire.ErrorPart>
export type ActionRow = Filled<wire.ActionRow>
export type QueueRow = Filled<wire.QueueRow>
export type StatusRow = Filled<wire.StatusRow>
export type ArtifactRow = Filled<wire.ArtifactRow>
export type ContextRow = Filled<wire.ContextRow>
export type ProcessRow = Omit<Filled<wire.ProcessRow>, 'command'> & { readonly command: Text }
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
  | ContextPart
  | ArtifactPart
  | ErrorPart

/** The row type of each panel. */
export interface Panels {
  readonly session: SessionRow
  readonly status: StatusRow
  readonly turns: TurnRow
  readonly parts: Part
  readonly queue: QueueRow
  readonly actions: ActionRow
  readonly artifacts: ArtifactRow
  readonly context: ContextRow
  readonly processes: ProcessRow
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
  'asked',
  'output',
  'preview',
  'objective',
  'result',
  'instructions',
  'text',
  'message',
  'answer',
  'summary',
  'command',
] as const

/** Fill in the defaults of a wire row. Null for a kind that this version does not know. */
export function fillRow(row: wire.AnyRow): AnyRow | null {
  const defaults: object | undefined = (DEFAULTS as Readonly<Record<string, object | undefined>>)[row.kind]
  if (defaults === undefined) return null
  const filled: Record<string, unknown> = { ...defaults, ...row }
  for (const field of TEXT_FIELDS) {
    const value = filled[field]
    if (typeof value === 'object' && value !== null) filled[field] = readText(value as wire.Text)
  }
  if (row.kind === 'agent') {
    filled.background = readBackground(row.background)
    filled.remote = readRemote(row.remote)
  }
  if (row.kind === 'artifact') {
    filled.versions = readVersions(row.versions)
    filled.exports = readExports(row.exports)
  }
  if (row.kind === 'task') filled.attempts = readAttempts(row.attempts)
  if (filled.usage !== undefined) filled.usage = { ...NO_USAGE, ...(filled.usage as wire.WorkUsage) }
  return filled as unknown as AnyRow
}
