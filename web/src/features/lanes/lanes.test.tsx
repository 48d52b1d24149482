import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { Team } from '@/system/selectors/team'
import { buildAgentRow, buildHandoffRow, buildReviewRow, buildTeamRow } from '../../../dev/rows'
import { fillAs, show } from '../../../dev/surfaces'
import { recordHandlers } from '../../../dev/team-handlers'
import { Lanes } from './lanes'

const TEAM: Team = {
  row: fillAs('team', buildTeamRow()),
  agents: ['coordinator', 'database', 'reviewer', 'worker-1'].map((key) =>
    fillAs('agents', buildAgentRow({ key })),
  ),
  edges: [],
  tasks: [],
  handoffs: [
    fillAs(
      'handoffs',
      buildHandoffRow({
        key: 'hnd_2',
        ownership: true,
        reason: 'the rest is schema work',
        resumeTarget: 'coordinator',
        contextBoundary: 980,
      }),
    ),
    fillAs(
      'handoffs',
      buildHandoffRow({ key: 'hnd_3', order: 3, state: 'rejected', answerReason: 'no diff yet' }),
    ),
  ],
  notifications: [],
  reviews: [
    fillAs(
      'reviews',
      buildReviewRow({
        key: 'rev_1',
        state: 'changes_requested',
        refs: [{ type: 'diff', ref: 'src/lexer.py' }],
        fixes: [{ text: 'An empty file gives an empty list' }, { text: 'Add a test', assignee: 'database' }],
      }),
    ),
  ],
  messages: [],
  runs: [],
}

const handlersTo = recordHandlers

test('a lane shows source, target, reason, resume target and context boundary of a handoff (UI-19)', async () => {
  const onDid = vi.fn()
  show(<Lanes team={TEAM} handlers={handlersTo(onDid)} />)
  const lane = screen.getByRole('region', { name: 'Handoffs' })
  const first = within(lane).getAllByRole('listitem')[0] as HTMLElement
  expect(first.textContent).toContain('coordinator → database')
  for (const text of ['Waiting for an answer', 'the rest is schema work', 'Returns to', 'up to fact 980']) {
    expect(first.textContent).toContain(text)
  }
  await userEvent.click(within(first).getByRole('button', { name: 'Accept' }))
  expect(onDid.mock.calls).toEqual([['answer handoff', ['hnd_2', 'accept', '']]])
})

test('a review shows its verdict, its evidence and its fixes, which can be sent back (UI-20)', async () => {
  const onDid = vi.fn()
  show(<Lanes team={TEAM} handlers={handlersTo(onDid)} />)
  const lane = screen.getByRole('region', { name: 'Reviews' })
  const entry = within(lane).getByText('Changes requested').closest('li') as HTMLElement
  expect(entry.textContent).toContain('reviewer → worker-1')
  expect(within(entry).getByRole('list', { name: 'Requested changes' }).children).toHaveLength(2)
  expect(within(entry).getByRole('list', { name: 'References' }).textContent).toBe('diff:src/lexer.py')
  await userEvent.click(within(entry).getByRole('button', { name: 'Send changes to worker-1' }))
  expect(onDid.mock.calls).toEqual([['apply review', ['rev_1', null]]])
})

test('a handoff to a person waits for their answer, and completes with it', async () => {
  const onDid = vi.fn()
  const owner = fillAs('agents', buildAgentRow({ key: 'owner', agentKind: 'human' }))
  const buildHandoffs = (state: 'handoff_requested' | 'accepted') => [
    fillAs(
      'handoffs',
      buildHandoffRow({ key: 'hnd_9', target: 'owner', ownership: false, confirm: false, state }),
    ),
  ]
  const team = { ...TEAM, agents: [...TEAM.agents, owner], handoffs: buildHandoffs('handoff_requested') }
  const { unmount } = show(<Lanes team={team} handlers={handlersTo(onDid)} />)
  const lane = screen.getByRole('region', { name: 'Handoffs' })
  expect(lane.textContent).toContain('Waiting for an answer')
  await userEvent.click(within(lane).getByRole('button', { name: 'Accept' }))
  expect(onDid).toHaveBeenLastCalledWith('answer handoff', ['hnd_9', 'accept', ''])
  unmount()
  show(<Lanes team={{ ...team, handoffs: buildHandoffs('accepted') }} handlers={handlersTo(onDid)} />)
  await userEvent.click(screen.getByRole('button', { name: 'Mark as done' }))
  expect(onDid).toHaveBeenLastCalledWith('answer handoff', ['hnd_9', 'complete', ''])
})
