import { render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { SESSION } from '../dev/rows'
import { buildTeamScenario } from '../dev/scenarios/team-scenarios'
import type { AnyRow } from '../src/system/generated/contracts'
import { TeamHost } from './team-host'

const ROWS: readonly AnyRow[] = (buildTeamScenario().sessions[SESSION] ?? []).flatMap((op) =>
  op.op === 'upsert' ? [op.row] : [],
)

async function go(view: string) {
  const nav = screen.getByRole('navigation', { name: 'Team views' })
  await userEvent.click(within(nav).getByRole('button', { name: new RegExp(`^${view}`) }))
}

test('another host shows the team workbench from plain rows, without a fetch (UI-18, UI-24)', async () => {
  const fetched = vi.spyOn(globalThis, 'fetch')
  render(<TeamHost rows={ROWS} onAction={vi.fn()} />)
  const roster = screen.getByRole('list', { name: 'Agents' })
  const names = within(roster)
    .getAllByRole('button', { name: /^Actions for / })
    .map((button) => button.getAttribute('aria-label')?.replace('Actions for ', ''))
  // The lead first, then agents that need a person, then running ones.
  expect(names).toEqual([
    'coordinator',
    'worker-1',
    'reviewer',
    'worker-4',
    'worker-2',
    'worker-3',
    'remote-linter',
    'database',
    'researcher-1',
  ])
  expect(within(roster).getByText('Captain')).toBeTruthy()
  expect(within(roster).getByText(/Waiting: 4 of 4 slots in use/)).toBeTruthy()
  expect(screen.getByRole('group', { name: 'Blocked' }).textContent).toContain(
    'Move the import into a worker process',
  )
  await go('Runs')
  expect(within(screen.getByRole('list', { name: 'Runs' })).getAllByRole('listitem')).toHaveLength(4)
  expect(fetched).not.toHaveBeenCalled()
})

test('a notification is attributed neither to the person nor to the lead (UI-16)', async () => {
  render(<TeamHost rows={ROWS} onAction={vi.fn()} />)
  await go('Activity')
  const lane = screen.getByRole('region', { name: 'Notifications' })
  expect(lane.textContent).toContain('researcher-1 → coordinator')
  expect(lane.textContent).toContain('Read')
  expect(
    within(screen.getByRole('region', { name: 'Messages' })).queryByText(/reads every file twice/),
  ).toBeNull()
})

test('a delegated request names the asking agent and its parent, and the answer goes to it (UI-10)', async () => {
  const onDid = vi.fn()
  render(<TeamHost rows={ROWS} onAction={onDid} />)
  const card = screen.getByRole('region', { name: 'Pending request' })
  expect(card.textContent).toContain('Requested by worker-1 for coordinator')
  await userEvent.click(within(card).getByRole('button', { name: /Approve/ }))
  expect(onDid.mock.calls).toEqual([['answer', ['act_a', 'approve']]])
})

test('moving a card sends a command and moves nothing itself (UI-21)', async () => {
  const onDid = vi.fn()
  render(<TeamHost rows={ROWS} onAction={onDid} />)
  await userEvent.click(screen.getByRole('button', { name: 'Actions for Measure before and after' }))
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Move to Running' }))
  expect(onDid.mock.calls).toEqual([['change task', ['tsk_3', { status: 'running' }]]])
  expect(screen.getByRole('group', { name: 'Blocked' }).textContent).toContain('Measure before and after')
})

test('stopping and closing ask first; input goes to its agent', async () => {
  const onDid = vi.fn()
  render(<TeamHost rows={ROWS} onAction={onDid} />)
  const choose = async (what: string) => {
    await userEvent.click(screen.getByRole('button', { name: 'Actions for worker-2' }))
    await userEvent.click(await screen.findByRole('menuitem', { name: what }))
  }
  await choose('Stop')
  expect(onDid).not.toHaveBeenCalled()
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Stop' }))
  await choose('Close')
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Cancel' }))
  await choose('Send input')
  await userEvent.type(screen.getByRole('textbox', { name: 'Input for worker-2' }), 'Mind the index{Enter}')
  expect(onDid.mock.calls).toEqual([
    ['stop', 'worker-2'],
    ['input', ['worker-2', 'Mind the index']],
  ])
})

test('an unreachable remote agent is not completed (UI-26)', () => {
  render(<TeamHost rows={ROWS} onAction={vi.fn()} />)
  const remote = screen
    .getByRole('button', { name: 'Actions for remote-linter' })
    .closest('li') as HTMLElement
  expect(remote.textContent).toContain('Unknown')
  expect(remote.textContent).toContain('Cannot reach the remote agent. Its state is unknown.')
})

test('a single agent is not a team (UI-18)', () => {
  const solo = ROWS.map((row) => (row.kind === 'team' ? { ...row, topology: 'solo_run' as const } : row))
  render(<TeamHost rows={solo} onAction={vi.fn()} />)
  expect(screen.getByTestId('solo')).toBeTruthy()
  expect(screen.queryByRole('list', { name: 'Agents' })).toBeNull()
})
