import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { ContextRow } from '@/system/rows/model'
import { fillAs, show } from '../../../dev/surfaces'
import { BudgetMeter } from './budget-meter'

function meter(change: Partial<ContextRow>) {
  const row = { kind: 'context', key: 'thr_a', order: 1, sequence: 1, threadId: 'thr_a', ...change }
  show(<BudgetMeter context={fillAs('context', row as never) as ContextRow} onOpen={vi.fn()} />)
  return screen.getByRole('button').textContent
}

test('of a window that is known the meter tells the share that is in use', () => {
  expect(meter({ used: 8000, window: 32_000 })).toBe('25%')
})

test('of a window that nobody knows it tells what is in use, and no more', () => {
  expect(meter({ used: 297 })).toBe('297 tokens')
})
