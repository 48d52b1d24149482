import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type * as wire from '@/system/generated/contracts'
import { buildTeam } from '@/system/selectors/team'
import { buildAgentRow, buildTaskRow, buildTeamRow, START } from '../../../dev/rows'
import { fillAs, show } from '../../../dev/surfaces'
import { recordHandlers } from '../../../dev/team-handlers'
import { Board } from './board'

function showBoard(...tasks: readonly wire.TaskRow[]) {
  const did = vi.fn()
  const team = buildTeam(fillAs('team', buildTeamRow({ lead: 'lead' })), {
    agents: [fillAs('agents', buildAgentRow({ key: 'lead', agentKind: 'main' }))],
    edges: [],
    tasks: tasks.map((task) => fillAs('tasks', task)),
    handoffs: [],
    notifications: [],
    reviews: [],
    messages: [],
    runs: [],
  })
  if (team === null) throw new Error('no team')
  show(<Board team={team} handlers={recordHandlers(did)} />)
  return did
}

const openMenu = async (task: string) => {
  await userEvent.click(screen.getByRole('button', { name: `Actions for ${task}` }))
  const entries = await screen.findAllByRole('menuitem')
  return entries.map((entry) => entry.textContent)
}

const choose = (name: string) => userEvent.click(screen.getByRole('menuitem', { name }))

test('a task is created with a title, an assignee and dependencies (UI-21)', async () => {
  const did = showBoard(buildTaskRow({ key: 'tsk_1', title: 'Write the notes' }))
  await userEvent.click(screen.getByRole('button', { name: 'New task' }))
  const dialog = within(screen.getByRole('dialog', { name: 'New task', hidden: true }))
  const make = dialog.getByRole('button', { name: 'Create task', hidden: true })
  await userEvent.click(make)
  expect(dialog.getByRole('alert', { hidden: true }).textContent).toBe('Enter a title.')
  expect(did).not.toHaveBeenCalled()
  await userEvent.type(dialog.getByLabelText('Title'), ' Print them ')
  await userEvent.selectOptions(dialog.getByLabelText('Assignee'), 'lead')
  await userEvent.click(dialog.getByLabelText('Write the notes'))
  await userEvent.click(dialog.getByRole('radio', { name: 'High', hidden: true }))
  await userEvent.click(make)
  expect(did.mock.calls).toEqual([
    [
      'new task',
      { title: 'Print them', objective: '', assignee: 'lead', dependsOn: ['tsk_1'], priority: 'high' },
    ],
  ])
})

test('an unstarted task can be started; its dependencies are named', async () => {
  const did = showBoard(
    buildTaskRow({ key: 'tsk_1', title: 'Write' }),
    buildTaskRow({ key: 'tsk_2', title: 'Print', dependsOn: ['tsk_1'] }),
  )
  expect(screen.getByText('Waiting for: Write')).toBeTruthy()
  expect(await openMenu('Print')).toEqual(expect.arrayContaining(['Start', 'Export evidence', 'Cancel task']))
  await choose('Start')
  expect(did.mock.calls).toEqual([['start task', 'tsk_2']])
})

const buildAttempt = (change: Partial<wire.AttemptRow>): wire.AttemptRow => ({
  runId: 'run_1',
  status: 'running',
  number: 1,
  agentId: 'lead',
  started: START,
  ...change,
})

test('a running task can be paused, a paused one resumed, and cancelling asks first', async () => {
  const did = showBoard(
    buildTaskRow({ key: 'tsk_1', title: 'Runs', status: 'running', attempts: [buildAttempt({})] }),
    buildTaskRow({
      key: 'tsk_2',
      title: 'Rests',
      status: 'blocked',
      paused: true,
      attempts: [buildAttempt({})],
    }),
  )
  expect(screen.getByText('Paused')).toBeTruthy()
  expect(await openMenu('Runs')).not.toContain('Start')
  await choose('Pause')
  await openMenu('Rests')
  await choose('Resume')
  await openMenu('Runs')
  await choose('Cancel task')
  const dialog = within(screen.getByRole('dialog', { name: 'Cancel “Runs”?', hidden: true }))
  await userEvent.click(dialog.getByRole('button', { name: 'Cancel task', hidden: true }))
  expect(did.mock.calls).toEqual([
    ['pause task', 'tsk_1'],
    ['resume task', 'tsk_2'],
    ['cancel task', 'tsk_1'],
  ])
})

test('a retry is a new attempt: earlier attempts stay, each with a link to its run', async () => {
  const did = showBoard(
    buildTaskRow({
      key: 'tsk_1',
      title: 'Fails',
      status: 'blocked',
      attempts: [
        buildAttempt({ status: 'failed', ended: START + 2e6, detail: 'provider_unavailable' }),
        buildAttempt({ runId: 'run_2', number: 2, status: 'failed' }),
      ],
    }),
  )
  await userEvent.click(screen.getByRole('button', { name: 'Fails' }))
  const list = within(screen.getByRole('list', { name: 'Attempts' })).getAllByRole('listitem')
  expect(list.map((element) => element.textContent?.slice(0, 9))).toEqual(['Attempt 2', 'Attempt 1'])
  await userEvent.click(screen.getByRole('button', { name: /run of attempt 1/ }))
  await openMenu('Fails')
  await choose('Retry')
  expect(did.mock.calls).toEqual([
    ['open run', 'run_1'],
    ['retry task', 'tsk_1'],
  ])
})

test('an agent’s text on a task is plain on the card, and rendered when the card is open', async () => {
  const summary = '## Done\n\n- **Two** notes in [docs](https://example.org)'
  showBoard(buildTaskRow({ key: 'tsk_1', title: 'Write the notes', status: 'done', summary }))
  const card = screen.getByRole('group', { name: 'Done' })
  await waitFor(() => expect(card.textContent).toMatch(/Done\s+Two notes in docs/))
  expect(within(card).queryByRole('link')).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Write the notes' }))
  expect(await within(card).findByRole('link', { name: 'docs' })).toBeTruthy()
})
