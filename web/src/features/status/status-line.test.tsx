import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { SessionState, StatusRow as WireStatus } from '@/system/generated/contracts'
import { buildStatusRow } from '../../../dev/rows'
import { fillAs, show } from '../../../dev/surfaces'
import { StatusLine } from './status-line'

function showLine(change: Partial<WireStatus> | null, runningSince = 0) {
  const status = change === null ? null : fillAs('status', buildStatusRow(change))
  return show(<StatusLine status={status} runningSince={runningSince} onInterrupt={vi.fn()} />)
}

test('the line shows the milestone, the call, the model and the tokens', () => {
  const since = (Date.now() - 65_000) * 1000
  showLine(
    {
      status: 'streaming',
      detail: 'running_tool',
      tool: 'Bash',
      iteration: 3,
      maxIters: 24,
      inputTokens: 18_234,
      outputTokens: 900,
    },
    since,
  )
  expect(screen.getByRole('status').textContent).toBe('Running Bash')
  expect(screen.getByText('call 3 of 24')).toBeTruthy()
  expect(screen.getByRole('img', { name: 'Tokens: 18.2K in, 900 out' })).toBeTruthy()
  expect(screen.getByText('gpt-6-mini')).toBeTruthy()
  expect(screen.getByText('1m 5s')).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Interrupt' })).toBeTruthy()
})

test('the search that answers without a model has a name in the language of the page', () => {
  const status = {
    detail: 'completed',
    iteration: 1,
    provider: 'offline',
    model: 'search, no model',
  } as const
  showLine(status)
  expect(screen.getByText('Folder search')).toBeTruthy()
  expect(screen.queryByText(/search, no model/)).toBeNull()
})

test('unknown values are not shown as nothing or zero (UI-26)', () => {
  showLine(null)
  expect(screen.getByText('Status unknown')).toBeTruthy()
})

test('an ended turn no longer shows its call count', () => {
  showLine({ status: 'done', detail: 'completed', iteration: 3, maxIters: 50 })
  expect(screen.queryByText(/call 3/)).toBeNull()
})

test('unreported tokens read unknown (UI-26)', () => {
  showLine({ inputTokens: 10 })
  expect(screen.getByRole('img', { name: 'Tokens: 10 in, unknown out' })).toBeTruthy()
})

test('a lead that is done does not hide the work of the rest of its session (D7)', () => {
  const status = fillAs('status', buildStatusRow({ status: 'done', detail: 'completed' }))
  const read = (session: SessionState) => {
    const { unmount } = show(
      <StatusLine status={status} session={session} runningSince={0} onInterrupt={vi.fn()} />,
    )
    const text = screen.getByRole('status').textContent
    unmount()
    return text
  }
  expect((['waiting', 'failed', 'paused', 'running', 'idle'] as const).map(read)).toEqual([
    'Needs input',
    'Failed',
    'Paused',
    'Running',
    'Done',
  ])
})

test('a lost turn shows no clock and can still be interrupted', () => {
  showLine({ status: 'blocked', detail: 'lost' }, Date.now() * 1000)
  expect(screen.getByRole('status').textContent).toBe('Process ended')
  expect(screen.queryByText('1s')).toBeNull()
  expect(screen.getByRole('button', { name: 'Interrupt' })).toBeTruthy()
})

test('a turn that is stopping cannot be stopped again', () => {
  showLine({ status: 'streaming', detail: 'stopping' }, Date.now() * 1000)
  expect(screen.getByRole('button', { name: 'Interrupting…' })).toHaveProperty('disabled', true)
})

test('a paused lead does not hide that its session failed (D7)', () => {
  const status = fillAs('status', buildStatusRow({ status: 'blocked', detail: 'paused', paused: 'unread' }))
  show(<StatusLine status={status} session="failed" runningSince={0} onInterrupt={vi.fn()} />)
  expect(screen.getByRole('status').textContent).toBe('Failed')
})
