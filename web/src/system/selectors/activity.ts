/** Counts and durations of a turn, from its rows. */
import type { ActionPart, Part, ToolPart, TurnRow } from '../rows/model'

export interface Activity {
  readonly tools: number
  readonly failedTools: number
  /** Calls that the gate or a person rejected. */
  readonly rejectedTools: number
  readonly files: number
  readonly added: number
  readonly removed: number
  readonly steers: number
  /** Working time in milliseconds; null if unknown. */
  readonly duration: number | null
  /** Time spent waiting for a person, in milliseconds. */
  readonly waited: number
}

export function summarizeActivity(turn: TurnRow, process: readonly Part[]): Activity {
  let failedTools = 0
  let rejectedTools = 0
  let added = 0
  let removed = 0
  let steers = 0
  for (const part of process) {
    if (part.kind === 'user_text') steers++
    if (part.kind !== 'tool_call') continue
    if (wasRejected(part)) rejectedTools++
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
    rejectedTools,
    files,
    added,
    removed,
    steers,
    duration: measureTurn(turn),
    waited: turn.waitedUs / 1000,
  }
}

/**
 * Working time of a turn without waits for a person, in milliseconds; null if it is running or
 * unknown.
 */
export function measureTurn(turn: TurnRow): number | null {
  // All facts of an imported turn have one time, so its duration is unknown.
  if (turn.startedAt === 0 || turn.endedAt <= turn.startedAt) return null
  return (turn.endedAt - turn.startedAt - turn.waitedUs) / 1000
}

/**
 * Start of a running turn's clock in microseconds: of its wait while it waits, else of its work. 0
 * if no turn runs.
 */
export function findClockStart(turn: TurnRow | null): number {
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

/** Whether an action asks a question, rather than for the approval of a call. */
export function isQuestion({ actionType }: { readonly actionType: ActionPart['actionType'] }): boolean {
  return QUESTIONS.has(actionType)
}

/** Whether a call was rejected before it started. That is not a failure of the tool. */
export function wasRejected(part: ToolPart): boolean {
  return part.state === 'output-error' && part.startedAt === 0
}
