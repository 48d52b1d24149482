/** Stream cursors, written `sequence.n`. */

/** Negative if `a` precedes `b`. Null precedes every cursor. */
export function compareCursors(a: string | null, b: string | null): number {
  const [aSequence, aN] = parts(a)
  const [bSequence, bN] = parts(b)
  return aSequence - bSequence || aN - bN
}

function parts(cursor: string | null): [number, number] {
  if (cursor === null) return [-1, 0]
  const [sequence, n] = cursor.split('.')
  return [Number(sequence), Number(n ?? 0)]
}
