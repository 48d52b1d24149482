/**
 * The conversation as a flat list of items, made from rows: what runs is open, what is done folds into one summary.
 * Pure: the same rows and the same choices give the same items.
 */

import type { ArtifactPart, ErrorPart, Part, TextPart, TurnRow } from '../rows/model'
import { hasBegun } from '../rows/model'
import type { Sent } from '../stores/outbox'
import { type Activity, activityOf } from './activity'

export type Item =
  | { readonly kind: 'input'; readonly key: string; readonly turn: TurnRow }
  | {
      readonly kind: 'part'
      readonly key: string
      readonly turn: TurnRow
      readonly part: Part
      readonly live: boolean
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
  | { readonly kind: 'sent'; readonly key: string; readonly entry: Sent }

export interface Choices {
  /** Turns that are done and that the person opened. */
  readonly opened: ReadonlySet<string>
  readonly sent: readonly Sent[]
  readonly parts: (turnId: string) => readonly Part[]
  readonly hasParts: (turn: TurnRow) => boolean
  /** False if it is unknown whether the running turn has ended: nothing is animated then. */
  readonly atWork?: boolean
}

export function conversation(turns: readonly TurnRow[], choices: Choices): readonly Item[] {
  const items: Item[] = []
  for (const turn of turns) {
    if (!hasBegun(turn)) continue
    // Nobody said anything to a turn that only summarises.
    if (turn.source !== 'compaction') items.push({ kind: 'input', key: `${turn.key} input`, turn })
    if (turn.state === 'running' || turn.state === 'waiting') running(items, turn, choices)
    else if (!choices.hasParts(turn)) items.push({ kind: 'unloaded', key: `${turn.key} parts`, turn })
    else ended(items, turn, choices)
  }
  for (const entry of choices.sent) {
    if (entry.how !== 'queue') items.push({ kind: 'sent', key: entry.id, entry })
  }
  return items
}

function running(items: Item[], turn: TurnRow, choices: Choices): void {
  const parts = choices.parts(turn.turnId)
  for (const part of parts) items.push(partItem(turn, part, isUnfinished(part)))
  if (choices.atWork !== false && !parts.some(isUnfinished))
    items.push({ kind: 'working', key: `${turn.key} working`, turn })
}

function ended(items: Item[], turn: TurnRow, choices: Choices): void {
  const parts = choices.parts(turn.turnId)
  const answers = parts.filter((part): part is TextPart => isAnswer(turn, part))
  const error = turn.state === 'failed' ? endingError(parts) : null
  const unheard = parts.filter(isUnheard)
  const last = answers.length === 0 ? finishing(parts) : null
  const made = artifactsOf(parts)
  const compactions = parts.filter(isCompaction)
  const apart = new Set<Part | null>([error, last, ...answers, ...unheard, ...made, ...compactions])
  const process = parts.filter((part) => !apart.has(part))
  for (const part of compactions) items.push(partItem(turn, part, false))
  const open = choices.opened.has(turn.turnId)
  if (process.length > 0) {
    const activity = activityOf(turn, process)
    items.push({ kind: 'summary', key: `${turn.key} summary`, turn, activity, open })
  }
  if (open) for (const part of process) items.push(partItem(turn, part, false))
  for (const part of answers) {
    items.push({ kind: 'answer', key: `${turn.key} ${part.key}`, turn, part, last: part === answers.at(-1) })
  }
  if (last !== null) items.push(partItem(turn, last, false))
  if (made.length > 0) items.push({ kind: 'artifacts', key: `${turn.key} artifacts`, turn, parts: made })
  for (const part of unheard) items.push(partItem(turn, part, false))
  if (turn.state !== 'completed') {
    items.push({ kind: 'outcome', key: `${turn.key} outcome`, turn, error })
  }
}

/** The key of a part is the same while it runs and after, so that a row keeps its place and its size. */
function partItem(turn: TurnRow, part: Part, live: boolean): Item {
  return { kind: 'part', key: `${turn.key} ${part.key}`, turn, part, live }
}

/** The answer is what the facts name as final; of a turn that was cut short, what was there of it. */
function isAnswer(turn: TurnRow, part: Part): boolean {
  return (
    part.kind === 'assistant_text' && (turn.finalParts.includes(part.key) || part.state === 'interrupted')
  )
}

/** What ended a failed turn is its last error; errors before it are part of the process. */
function endingError(parts: readonly Part[]): ErrorPart | null {
  return parts.findLast((part): part is ErrorPart => part.kind === 'error') ?? null
}

/** A turn that ended by finishing, without words of its own, came to what it finished with: that is not folded away. */
function finishing(parts: readonly Part[]): Part | null {
  const last = parts.findLast((part) => part.kind === 'tool_call') ?? null
  return last?.tool === 'Finalize' && last.state === 'output-available' ? last : null
}

/** What came of the turn is not folded away: each artifact once, by its newest version of the turn. */
function artifactsOf(parts: readonly Part[]): readonly ArtifactPart[] {
  const made = parts.filter((part): part is ArtifactPart => part.kind === 'artifact_ref')
  return made.filter((part) => made.findLast((other) => other.artifactId === part.artifactId) === part)
}

/** From a compaction on the model is told a summary: that is not folded away, and its summary is shown on demand. */
function isCompaction(part: Part): boolean {
  return part.kind === 'context_event' && part.event !== 'resolved'
}

/** A steer that was rejected is not hidden in a fold: the person has still to decide what becomes of it. */
function isUnheard(part: Part): boolean {
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
