/** What happened in a turn, counted from its rows. */
import type { ActionPart, Part, ToolPart, TurnRow } from '../rows/model'

export interface Activity {
  readonly tools: number
  readonly failedTools: number
  /** Calls that the gate or a person did not let run. */
  readonly refusedTools: number
  readonly files: number
  readonly added: number
  readonly removed: number
  readonly steers: number
  /** How long it was at work, in milliseconds; null where the facts don't tell. */
  readonly duration: number | null
  /** How long it stood still for a person's decision, in milliseconds. */
  readonly waited: number
}

export function activityOf(turn: TurnRow, process: readonly Part[]): Activity {
  let failedTools = 0
  let refusedTools = 0
  let added = 0
  let removed = 0
  let steers = 0
  for (const part of process) {
    if (part.kind === 'user_text') steers++
    if (part.kind !== 'tool_call') continue
    if (wasRefused(part)) refusedTools++
    else if (part.state === 'output-error') failedTools++
    for (const change of part.changes) {
      added += change.added ?? 0
      removed += change.removed ?? 0
    }
  }
  const files = turn.filesChanged
  return {
    tools: turn.toolCalls,
    failedTools,
    refusedTools,
    files,
    added,
    removed,
    steers,
    duration: durationOf(turn),
    waited: turn.waitedUs / 1000,
  }
}

/** How long a turn was at work, waits for a person left out, in milliseconds; null while it runs or where the facts don't tell. */
export function durationOf(turn: TurnRow): number | null {
  // A turn that was imported is told at one moment: how long it took nobody knows.
  if (turn.startedAt === 0 || turn.endedAt <= turn.startedAt) return null
  return (turn.endedAt - turn.startedAt - turn.waitedUs) / 1000
}

/** Where the clock of a turn that runs counts from, in microseconds: its wait while it waits, else its work. 0 where none runs. */
export function clockStart(turn: TurnRow | null): number {
  if (turn === null || turn.startedAt === 0) return 0
  return turn.waitingSince > 0 ? turn.waitingSince : turn.startedAt + turn.waitedUs
}

const QUESTIONS: ReadonlySet<ActionPart['actionType']> = new Set([
  'plan_decision',
  'teammate_plan_decision',
  'clarification',
  'structured_input',
  'credential_request',
])

/** Whether an action asks a person something, and not whether a call may run. */
export function isQuestion({ actionType }: { readonly actionType: ActionPart['actionType'] }): boolean {
  return QUESTIONS.has(actionType)
}

/** A call that was not let run never started; that is no failure of the tool. */
export function wasRefused(part: ToolPart): boolean {
  return part.state === 'output-error' && part.startedAt === 0
}
