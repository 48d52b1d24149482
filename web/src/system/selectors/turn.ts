import type { TurnRow } from '../rows/model'

/** Whether a turn is part of the conversation: one that waits is in the queue, one that was removed never was. */
export function hasBegun(turn: TurnRow): boolean {
  return turn.state !== 'queued' && turn.state !== 'removed'
}

/** The first of the turns that have begun; turns that wait may stand before it. */
export function firstBegun(turns: readonly TurnRow[]): TurnRow | undefined {
  return turns.find(hasBegun)
}
