import { expect, test } from 'vitest'
import { createId } from './ids'

test('ids are a prefix and 22 digits, and sort by time', () => {
  const earlier = createId('trn', 1_700_000_000_000)
  const later = createId('trn', 1_700_000_000_001)
  expect(earlier).toMatch(/^trn_[0-9A-Za-z]{22}$/)
  expect(earlier < later).toBe(true)
  expect(createId('key')).not.toBe(createId('key'))
})
