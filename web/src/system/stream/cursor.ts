/** Stream cursors, written `sequence.n`. */

/** Negative if `a` precedes `b`. Null precedes every cursor. */
export function compareCursors(a: string | null, b: string | null): number {
  const [aSequence, aN] = parseCursor(a)
  const [bSequence, bN] = parseCursor(b)
  return aSequence - bSequence || aN - bN
}

function parseCursor(cursor: string | null): [number, number] {
  if (cursor === null) return [-1, 0]
  const [sequence, n] = cursor.split('.')
  return [Number(sequence), Number(n ?? 0)]
}
