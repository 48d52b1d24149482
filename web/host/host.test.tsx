import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import {
  buildActionRow,
  buildPosition,
  buildStatusRow,
  buildTextPart,
  buildToolPart,
  buildTurnRow,
} from '../dev/rows'
import { Host } from './host'

const atStep = (step: number, key?: string) => buildPosition('trn_a', 10, step, key)
const ROWS = [
  buildStatusRow({ status: 'done', detail: 'completed' }),
  buildTurnRow('trn_a', 10, { toolCalls: 1, finalParts: ['run_trn_a.3'] }),
  buildToolPart(atStep(2, 'cal_a'), 'Bash', { summary: 'make test' }),
  buildTextPart(atStep(3), 'All tests pass.'),
  {
    kind: 'user_text',
    ...atStep(4),
    steerId: 'str_a',
    outcome: 'rejected',
    reason: 'turn_completed',
    content: { text: 'Mind the lexer' },
  },
] as const

test('another host shows the conversation from plain rows, with its own labels, without a fetch', async () => {
  const fetched = vi.spyOn(globalThis, 'fetch')
  const onDid = vi.fn()
  render(<Host rows={ROWS} onAction={onDid} />)
  const feed = screen.getByRole('feed', { name: 'Conversation' })
  expect(within(feed).getByRole('article', { name: 'Reviewer' }).textContent).toBe(
    'ReviewerWhat is in this folder?',
  )
  expect(within(feed).getByRole('article', { name: 'Answer' }).textContent).toContain('All tests pass.')
  expect(screen.getByRole('status').textContent).toBe('Done')
  await userEvent.click(within(feed).getByRole('button', { name: /1 tool/ }))
  expect(within(feed).getByText('make test')).toBeTruthy()
  expect(fetched).not.toHaveBeenCalled()
})

test('the host receives the person’s actions, and the surface never answers automatically', async () => {
  const onDid = vi.fn()
  render(<Host rows={[...ROWS, buildActionRow({ preview: { text: 'make all' } })]} onAction={onDid} />)
  expect(onDid).not.toHaveBeenCalled()
  await userEvent.click(screen.getByRole('button', { name: 'Send as new turn' }))
  await userEvent.click(screen.getByRole('button', { name: /Let it run/ }))
  expect(onDid.mock.calls).toEqual([
    ['send as turn', 'Mind the lexer'],
    ['answer', { decision: 'approve', scope: 'once', reason: '' }],
  ])
})

test('surfaces store no truth: a row that the host removes disappears, with or without an answer', async () => {
  const { rerender } = render(<Host rows={[...ROWS, buildActionRow()]} onAction={vi.fn()} />)
  await userEvent.click(screen.getByRole('button', { name: /Let it run/ }))
  expect(screen.getByRole('region', { name: 'Pending request' })).toBeTruthy()
  rerender(<Host rows={ROWS} onAction={vi.fn()} />)
  expect(screen.queryByRole('region', { name: 'Pending request' })).toBeNull()
})
