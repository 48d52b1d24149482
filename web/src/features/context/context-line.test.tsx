import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type { ContextPart } from '@/system/rows/model'
import { fillAs, show } from '../../../dev/surfaces'
import { ContextLine } from './context-line'

function showLine(change: Partial<ContextPart>) {
  const part = { kind: 'context_event', key: 'run_a.1', order: 1, sequence: 1, event: 'compacted', ...change }
  show(<ContextLine part={fillAs('parts', part as never) as ContextPart} />)
}

test('a summary shows the pinned context (UI-25)', async () => {
  const summary = { text: 'They counted.', ref: null, erased: false }
  showLine({ cause: 'window', summary, said: 2 })
  await userEvent.click(screen.getByRole('button', { name: /Conversation compacted/ }))
  expect(screen.getByRole('region', { name: 'Summary for the model' }).textContent).toBe('They counted.')
  expect(screen.getByText('2 recent messages kept in full')).toBeDefined()
})

test('a summary without pins does not mention them', async () => {
  showLine({ cause: 'person', summary: { text: 'They counted.', ref: null, erased: false } })
  await userEvent.click(screen.getByRole('button', { name: /Conversation compacted/ }))
  expect(screen.queryByText(/told beside it/)).toBeNull()
})
