/**
 * The conversation as a flat list of items. A running turn is open; a completed turn folds into one
 * summary.
 */

import type { ArtifactPart, ErrorPart, Part, TextPart, TurnRow } from '../rows/model'
import { hasBegun } from '../rows/model'
import type { SentInput } from '../stores/outbox'
import { type Activity, summarizeActivity } from './activity'

export type Item =
  | { readonly kind: 'input'; readonly key: string; readonly turn: TurnRow }
  | {
      readonly kind: 'part'
      readonly key: string
      readonly turn: TurnRow
      readonly part: Part
      readonly live: boolean
      /** Whether it is a rejection because no person was present. */
      readonly unattended: boolean
    }
  | {
      readonly kind: 'summary'
      readonly key: string
      readonly turn: TurnRow
      readonly activity: Activity
      readonly open: boolean
    }
  | {
      readonly kind: 'answer'
      readonly key: string
      readonly turn: TurnRow
      readonly part: TextPart
      readonly last: boolean
    }
  | {
      readonly kind: 'outcome'
      readonly key: string
      readonly turn: TurnRow
      readonly error: ErrorPart | null
    }
  | {
      readonly kind: 'artifacts'
      readonly key: string
      readonly turn: TurnRow
      readonly parts: readonly ArtifactPart[]
    }
  | { readonly kind: 'working'; readonly key: string; readonly turn: TurnRow }
  | { readonly kind: 'unloaded'; readonly key: string; readonly turn: TurnRow }
  | { readonly kind: 'sent'; readonly key: string; readonly entry: SentInput }

export interface ConversationOptions {
  /** Completed turns that the person opened. */
  readonly opened: ReadonlySet<string>
  readonly sent: readonly SentInput[]
  readonly getParts: (turnId: string) => readonly Part[]
  readonly hasParts: (turn: TurnRow) => boolean
  /** False if it is unknown whether the running turn has ended; nothing is animated then. */
  readonly atWork?: boolean
}

export function buildConversation(turns: readonly TurnRow[], choices: ConversationOptions): readonly Item[] {
  const items: Item[] = []
  for (const turn of turns) {
    if (!hasBegun(turn)) continue
    // A compaction turn has no input.
    if (turn.source !== 'compaction') items.push({ kind: 'input', key: `${turn.key} input`, turn })
    if (turn.state === 'running' || turn.state === 'waiting') addRunningTurn(items, turn, choices)
    else if (!choices.hasParts(turn)) items.push({ kind: 'unloaded', key: `${turn.key} parts`, turn })
    else addEndedTurn(items, turn, choices)
  }
  for (const entry of choices.sent) {
    if (entry.sendMode !== 'queue') items.push({ kind: 'sent', key: entry.id, entry })
  }
  return items
}

function addRunningTurn(items: Item[], turn: TurnRow, choices: ConversationOptions): void {
  const parts = choices.getParts(turn.turnId)
  for (const part of parts) items.push(buildPartItem(turn, part, isUnfinished(part), parts))
  if (choices.atWork !== false && !parts.some(isUnfinished))
    items.push({ kind: 'working', key: `${turn.key} working`, turn })
}

function addEndedTurn(items: Item[], turn: TurnRow, choices: ConversationOptions): void {
  const parts = choices.getParts(turn.turnId)
  const answers = parts.filter((part): part is TextPart => isAnswer(turn, part))
  const error = turn.state === 'failed' ? findEndingError(parts) : null
  const rejectedSteers = parts.filter(isRejectedSteer)
  const last = answers.length === 0 ? findFinalCall(parts) : null
  const artifacts = selectNewestArtifacts(parts)
  const compactions = parts.filter(isCompaction)
  const unfolded = new Set<Part | null>([
    error,
    last,
    ...answers,
    ...rejectedSteers,
    ...artifacts,
    ...compactions,
  ])
  const process = parts.filter((part) => !unfolded.has(part))
  for (const part of compactions) items.push(buildPartItem(turn, part, false, parts))
  const open = choices.opened.has(turn.turnId)
  if (process.length > 0) {
    const activity = summarizeActivity(turn, process)
    items.push({ kind: 'summary', key: `${turn.key} summary`, turn, activity, open })
  }
  if (open) for (const part of process) items.push(buildPartItem(turn, part, false, parts))
  for (const part of answers) {
    items.push({ kind: 'answer', key: `${turn.key} ${part.key}`, turn, part, last: part === answers.at(-1) })
  }
  if (last !== null) items.push(buildPartItem(turn, last, false, parts))
  if (artifacts.length > 0)
    items.push({ kind: 'artifacts', key: `${turn.key} artifacts`, turn, parts: artifacts })
  for (const part of rejectedSteers) items.push(buildPartItem(turn, part, false, parts))
  if (turn.state !== 'completed') {
    items.push({ kind: 'outcome', key: `${turn.key} outcome`, turn, error })
  }
}

/** The key of a part never changes, so that its row keeps its position and size. */
function buildPartItem(turn: TurnRow, part: Part, live: boolean, parts: readonly Part[]): Item {
  return {
    kind: 'part',
    key: `${turn.key} ${part.key}`,
    turn,
    part,
    live,
    unattended: isUnattended(part, parts),
  }
}

/** Whether an action was rejected because no person was present. Its call has the reason. */
function isUnattended(part: Part, parts: readonly Part[]): boolean {
  if (part.kind !== 'action_required' || part.outcome !== 'rejected') return false
  return parts.some(
    (call) => call.kind === 'tool_call' && call.actionId === part.actionId && call.code === 'nobody_there',
  )
}

/**
 * Whether a part is the answer: named as final by the facts, or the partial text of an interrupted
 * turn.
 */
function isAnswer(turn: TurnRow, part: Part): boolean {
  return (
    part.kind === 'assistant_text' && (turn.finalParts.includes(part.key) || part.state === 'interrupted')
  )
}

/** The last error, which ended a failed turn. Earlier errors are part of the process. */
function findEndingError(parts: readonly Part[]): ErrorPart | null {
  return parts.findLast((part): part is ErrorPart => part.kind === 'error') ?? null
}

/** The final `Finalize` call of a turn without an answer. It is the result and is not folded. */
function findFinalCall(parts: readonly Part[]): Part | null {
  const last = parts.findLast((part) => part.kind === 'tool_call') ?? null
  return last?.tool === 'Finalize' && last.state === 'output-available' ? last : null
}

/** The artifacts of a turn, each with its newest version. They are not folded. */
function selectNewestArtifacts(parts: readonly Part[]): readonly ArtifactPart[] {
  const artifacts = parts.filter((part): part is ArtifactPart => part.kind === 'artifact_ref')
  return artifacts.filter(
    (part) => artifacts.findLast((other) => other.artifactId === part.artifactId) === part,
  )
}

/** Whether a part is a compaction, which changes the model's context. It is not folded. */
function isCompaction(part: Part): boolean {
  return part.kind === 'context_event' && part.event !== 'resolved'
}

/**
 * Whether a part is a rejected steer. It is not folded, because the person must still decide what
 * to do with it.
 */
function isRejectedSteer(part: Part): boolean {
  return part.kind === 'user_text' && part.outcome === 'rejected'
}

export function isUnfinished(part: Part): boolean {
  switch (part.kind) {
    case 'assistant_text':
    case 'reasoning_summary':
      return part.state === 'streaming'
    case 'tool_call':
      return part.state !== 'output-available' && part.state !== 'output-error' && part.state !== 'cancelled'
    case 'action_required':
    case 'user_text':
      return part.outcome === 'pending'
    case 'runtime_status':
    case 'plan':
    case 'worker_notification':
    case 'agent_handoff':
    case 'remote_agent_status':
    case 'artifact_ref':
    case 'error':
      return false
    case 'context_event':
      return part.event === 'compacting'
  }
}
