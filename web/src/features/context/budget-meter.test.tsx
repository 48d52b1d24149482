import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { ContextRow } from '@/system/rows/model'
import { fillAs, show } from '../../../dev/surfaces'
import { BudgetMeter } from './budget-meter'

function showMeter(change: Partial<ContextRow>) {
  const row = { kind: 'context', key: 'thr_a', order: 1, sequence: 1, threadId: 'thr_a', ...change }
  show(<BudgetMeter context={fillAs('context', row as never) as ContextRow} onOpen={vi.fn()} />)
  return screen.getByRole('button').textContent
}

test('with a known window the meter shows the used share', () => {
  expect(showMeter({ used: 8000, window: 32_000 })).toBe('25%')
})

test('with an unknown window the meter shows only the usage', () => {
  expect(showMeter({ used: 297 })).toBe('297 tokens')
})
