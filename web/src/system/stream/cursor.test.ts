import { expect, test } from 'vitest'
import { compareCursors } from './cursor'

test('cursors are ordered by sequence and then by frame, as numbers', () => {
  expect(compareCursors('9.10', '10.0')).toBeLessThan(0)
  expect(compareCursors('9.10', '9.9')).toBeGreaterThan(0)
  expect(compareCursors('9', '9.0')).toBe(0)
  expect(compareCursors(null, '0.0')).toBeLessThan(0)
})
