import { expect, test } from 'vitest'
import { newId } from './ids'

test('ids are a prefix and 22 digits, and sort by time', () => {
  const earlier = newId('trn', 1_700_000_000_000)
  const later = newId('trn', 1_700_000_000_001)
  expect(earlier).toMatch(/^trn_[0-9A-Za-z]{22}$/)
  expect(earlier < later).toBe(true)
  expect(newId('key')).not.toBe(newId('key'))
})
