import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type * as wire from '@/system/generated/contracts'
import {
  computeItemStatus,
  computeJobStatus,
  failedJobs,
  isItem,
  isJob,
  itemCounts,
  jobItems,
  withoutDoneWorkers,
} from '@/system/selectors/job'
import { buildTeam, type Team } from '@/system/selectors/team'
import { agentRow, notificationRow, START, taskRow, teamRow } from '../../../dev/rows'
import { CHINESE, fillAs, NO_BLOBS, show } from '../../../dev/surfaces'
import { recordingHandlers } from '../../../dev/team-handlers'
import { Roster } from '../agent/roster'
import { Board } from '../board/board'
import { Lanes } from '../lanes/lanes'
import { ReadOnlyProvider } from '../shared/surface'
import { TeamBar } from '../team/team-bar'

const attempt = (change: Partial<wire.AttemptRow> = {}): wire.AttemptRow => ({
  runId: 'run_1',
  status: 'running',
  number: 1,
  agentId: 'worker-1',
  started: START,
  ...change,
})
const jobRow = (change: Partial<wire.TaskRow> = {}) =>
  taskRow({
    key: 'tsk_j',
    title: 'Read them all',
    entity: 'automation_job',
    status: 'running',
    job: 'job_1',
    items: { completed: 12, failed: 2, running: 4, waiting: 22, cancelled: 0 },
    assignee: 'worker',
    attempts: [attempt({ agentId: '', runId: '' })],
    ...change,
  })
const itemRow = (key: string, change: Partial<wire.TaskRow> = {}) =>
  taskRow({ key, title: `Read ${key}`, job: 'job_1', parentTask: 'tsk_j', ...change })
const FAILED = itemRow('b', {
  order: 2,
  status: 'blocked',
  blocker: 'The file is no text.',
  ended: START,
  attempts: [attempt({ status: 'failed', ended: START, agentId: 'worker-2' })],
})
const ITEMS = [
  itemRow('a', {
    order: 1,
    status: 'done',
    summary: 'It is short.',
    ended: START,
    attempts: [attempt({ status: 'completed', ended: START })],
  }),
  FAILED,
  itemRow('c', {
    order: 3,
    status: 'running',
    attempts: [attempt({ status: 'failed' }), attempt({ number: 2, runId: 'run_3', agentId: 'worker-3' })],
  }),
  itemRow('d', { order: 4 }),
]

function teamWith(...tasks: readonly wire.TaskRow[]): Team {
  const agents = [
    fillAs('agents', agentRow({ key: 'lead', agentKind: 'main', state: 'idle' })),
    fillAs('agents', agentRow({ key: 'worker-1', state: 'closed', taskId: 'a' })),
    fillAs('agents', agentRow({ key: 'worker-2', state: 'failed', taskId: 'b' })),
    fillAs('agents', agentRow({ key: 'worker-3', state: 'needs_input', taskId: 'c' })),
  ]
  const none = { edges: [], handoffs: [], notifications: [], reviews: [], messages: [], runs: [] }
  const rows = { ...none, agents, tasks: tasks.map((task) => fillAs('tasks', task)) }
  const team = buildTeam(fillAs('team', teamRow({ lead: 'lead' })), rows)
  if (team === null) throw new Error('no team')
  return team
}

function board(tasks: readonly wire.TaskRow[], job = '', t = undefined as typeof CHINESE | undefined) {
  const did = vi.fn()
  const { update } = show(
    <Board team={teamWith(...tasks)} job={job} handlers={recordingHandlers(did)} />,
    NO_BLOBS,
    t,
  )
  return {
    did,
    goTo: (next: string) =>
      update(<Board team={teamWith(...tasks)} job={next} handlers={recordingHandlers(did)} />),
  }
}

const menu = async (name = 'Actions for Read them all') => {
  await userEvent.click(screen.getByRole('button', { name }))
  const entries = await screen.findAllByRole('menuitem')
  return entries.map((entry) => entry.textContent)
}

const choose = (name: string) => userEvent.click(screen.getByRole('menuitem', { name }))

test('a job is one card with its progress in words and as a bar; its items are not cards', () => {
  board([jobRow(), ...ITEMS])
  const cards = within(screen.getByRole('region', { name: 'Board' })).getAllByRole('listitem')
  expect(cards).toHaveLength(1)
  const words = '12 of 40 done · 2 failed · 4 running · 22 waiting'
  expect(cards[0]?.textContent).toBe(`Read them allRunning${words}Processed by worker`)
  const bar = screen.getByRole('progressbar', { name: 'Progress of Read them all' })
  expect(['aria-valuenow', 'aria-valuemax', 'aria-valuetext'].map((name) => bar.getAttribute(name))).toEqual([
    '12',
    '40',
    words,
  ])
})

test('the card is available in Chinese', () => {
  board([jobRow(), ...ITEMS], '', CHINESE)
  expect(screen.getByText('已完成 12/40，2 个失败，4 个正在运行，22 个等待中')).toBeTruthy()
})

test('the card does not offer what a job refuses: its items move it on', async () => {
  const { did } = board([jobRow(), ...ITEMS])
  expect(await menu()).toEqual(['Retry failed items', 'Pause', 'Export evidence', 'Cancel job'])
  await choose('Pause')
  await menu()
  await choose('Retry failed items')
  await menu()
  await choose('Cancel job')
  const dialog = within(screen.getByRole('dialog', { name: 'Cancel “Read them all”?', hidden: true }))
  expect(dialog.getByText(/Finished items do not change/)).toBeTruthy()
  await userEvent.click(dialog.getByRole('button', { name: 'Cancel job', hidden: true }))
  expect(did.mock.calls).toEqual([
    ['pause job', 'job_1'],
    ['retry items', ['job_1', null]],
    ['cancel job', 'job_1'],
  ])
})

test.each([
  ['Paused', { paused: true, status: 'blocked' }, ['Resume', 'Export evidence', 'Cancel job']],
  ['Failed', { ended: START, status: 'blocked' }, ['Retry failed items', 'Export evidence', 'Cancel job']],
  ['Cancelling', { cancelling: true }, ['Export evidence']],
  ['Done', { status: 'done', ended: START }, ['Export evidence']],
  ['Cancelled', { status: 'cancelled', ended: START }, ['Export evidence']],
] as const)('a job that is %s offers the actions of its state', async (words, change, offered) => {
  board([jobRow(change)])
  const card = screen.getByRole('progressbar').closest('li')
  expect(within(card as HTMLElement).getByText(words)).toBeTruthy()
  expect(await menu()).toEqual(offered)
})

test('a card opens the list of its items: state, worker and result of each', async () => {
  const { did, goTo } = board([jobRow(), ...ITEMS])
  await userEvent.click(screen.getByRole('button', { name: 'Read them all' }))
  expect(did.mock.calls).toEqual([['open job', 'tsk_j']])
  goTo('tsk_j')
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Back to board' }))
  const items = within(screen.getByRole('list', { name: 'Items of Read them all' })).getAllByRole('listitem')
  expect(items.map((item) => item.textContent)).toEqual([
    'Read aDoneworker-1It is short.',
    'Read bRetryFailedworker-2The file is no text.',
    'Read cCancelNeeds inputworker-32 attempts',
    'Read dCancelWaiting',
  ])
  goTo('')
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Read them all' }))
})

test('a failed item can be retried, an open one cancelled after a question, and each leads to its worker', async () => {
  const { did } = board([jobRow(), ...ITEMS], 'tsk_j')
  await userEvent.click(screen.getByRole('button', { name: 'Retry Read b' }))
  await userEvent.click(screen.getByRole('button', { name: 'Cancel Read d' }))
  const dialog = within(screen.getByRole('dialog', { name: 'Cancel “Read d”?', hidden: true }))
  await userEvent.click(dialog.getByRole('button', { name: 'Cancel item', hidden: true }))
  await userEvent.click(screen.getByRole('button', { name: 'worker-3' }))
  expect(did.mock.calls).toEqual([
    ['retry items', ['job_1', 'b']],
    ['cancel task', 'd'],
    ['open agent', 'worker-3'],
  ])
})

test('an item that failed before its job was cancelled stays failed, with its reason, and is not retried', async () => {
  const detail = { ...attempt({ status: 'failed', ended: START, agentId: 'worker-2' }), detail: 'model_auth' }
  const cancelled = { status: 'cancelled', ended: START } as const
  const items = [
    itemRow('b', { ...cancelled, order: 2, blocker: 'The file is no text.', attempts: [detail] }),
    itemRow('c', { ...cancelled, order: 3, attempts: [detail] }),
    itemRow('d', { ...cancelled, order: 4, attempts: [attempt({ status: 'cancelled' })] }),
    itemRow('e', { ...cancelled, order: 5 }),
  ]
  const counts = { completed: 0, failed: 2, running: 0, waiting: 0, cancelled: 2 }
  const job = jobRow({ ...cancelled, items: counts })
  expect(computeJobStatus(fillAs('tasks', job))).toBe('cancelled')
  const stands = jobItems(teamWith(job, ...items).tasks, 'job_1', []).map((item) => [
    item.status,
    item.problem,
  ])
  expect(stands).toEqual([
    ['failed', 'The file is no text.'],
    ['failed', 'model_auth'],
    ['cancelled', ''],
    ['cancelled', ''],
  ])
  board([job, ...items], 'tsk_j')
  expect(screen.getByRole('radio', { name: 'Failed 2' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: /^Retry|^Cancel/ })).toBeNull()
})

test('waiting items of a paused job read paused, in counts and list', () => {
  const counts = { completed: 1, failed: 1, running: 0, waiting: 2, cancelled: 0 }
  const items = [
    ...ITEMS.slice(0, 2),
    itemRow('c', { order: 3, status: 'blocked', paused: true, attempts: [attempt()] }),
    itemRow('d', { order: 4 }),
  ]
  board([jobRow({ status: 'blocked', paused: true, items: counts }), ...items], 'tsk_j')
  expect(screen.getByText('1 of 4 done · 1 failed · 2 paused')).toBeTruthy()
  const filters = screen
    .getAllByRole('radio')
    .map((button) => button.getAttribute('aria-label') ?? button.parentElement?.textContent)
  expect(filters).toEqual(['All 4', 'Failed 1', 'Paused 2', 'Done 1'])
})

test('items are filtered by state, each with its full record', async () => {
  board([jobRow(), ...ITEMS], 'tsk_j')
  await userEvent.click(screen.getByRole('radio', { name: 'Failed 1' }))
  const list = within(screen.getByRole('list', { name: 'Items of Read them all' }))
  expect(list.getAllByRole('button', { expanded: false }).map((button) => button.textContent)).toEqual([
    'Read b',
  ])
  await userEvent.click(list.getByRole('button', { name: 'Read b' }))
  expect(list.getByRole('list', { name: 'Attempts' })).toBeTruthy()
})

test('items without rows are shown from the query of their job', () => {
  const read: readonly wire.JobItem[] = [
    {
      itemId: 'a',
      title: 'Read a',
      status: 'completed',
      attempts: 2,
      agentId: 'gone',
      output: 'It is short.',
    },
    { itemId: 'b', title: 'Read b', status: 'running', attempts: 1, agentId: 'worker-2' },
  ]
  show(
    <Board
      team={teamWith(jobRow(), FAILED)}
      job="tsk_j"
      items={read}
      handlers={recordingHandlers(vi.fn())}
    />,
  )
  const items = within(screen.getByRole('list', { name: 'Items of Read them all' })).getAllByRole('listitem')
  expect(items.map((item) => item.textContent)).toEqual([
    'Read aDone2 attemptsIt is short.',
    'Read bRetryFailedworker-2The file is no text.',
  ])
})

test('only the visible part of five hundred items is rendered', () => {
  const many = Array.from({ length: 500 }, (_, index) => itemRow(`i${index}`, { order: index }))
  board([jobRow(), ...many], 'tsk_j')
  const drawn = within(screen.getByRole('list', { name: 'Items of Read them all' })).getAllByRole('listitem')
  expect(drawn.length).toBeLessThan(60)
  expect(drawn[0]?.getAttribute('aria-setsize')).toBe('500')
})

test('a job in a read-only session can be read but not changed', () => {
  const team = teamWith(jobRow(), ...ITEMS)
  show(
    <ReadOnlyProvider value={true}>
      <Board team={team} job="tsk_j" handlers={recordingHandlers(vi.fn())} />
    </ReadOnlyProvider>,
  )
  expect(screen.queryByRole('button', { name: /^Actions for|^Retry|^Cancel/ })).toBeNull()
})

test('a failed job is shown beside agents that need a person; its failed items are shown by the job', async () => {
  const onOpenJob = vi.fn()
  const bar = (team: Team) => (
    <TeamBar
      team={team}
      view="board"
      onView={() => {}}
      onOpenAgent={() => {}}
      onResume={() => {}}
      openAgentId=""
      onOpenJob={onOpenJob}
    />
  )
  const { update } = show(bar(teamWith(jobRow(), ...ITEMS)))
  expect(screen.getByRole('button', { name: 'worker-3: Needs input' })).toBeTruthy()
  expect(screen.queryByText(/Failed/)).toBeNull()
  update(bar(teamWith(jobRow({ ended: START, status: 'blocked' }), ...ITEMS)))
  await userEvent.click(screen.getByRole('button', { name: 'Failed: Read them all' }))
  expect(onOpenJob.mock.calls).toEqual([['tsk_j']])
})

test('agents that need a person precede failed ones, and failed workers do not appear beside their job', () => {
  const bar = (team: Team) => (
    <TeamBar
      team={team}
      view="board"
      onView={() => {}}
      onOpenAgent={() => {}}
      onResume={() => {}}
      openAgentId=""
      onOpenJob={() => {}}
    />
  )
  const labels = () => screen.getAllByRole('button', { name: /: / }).map((button) => button.textContent)
  const whole = teamWith(jobRow({ ended: START, status: 'blocked' }), ...ITEMS)
  const others = ['failed', 'failed', 'needs_input'] as const
  const more = others.map((state, order) =>
    fillAs('agents', agentRow({ key: `other-${order}`, state, order: order - 9, taskId: '' })),
  )
  const { update } = show(bar({ ...whole, agents: [...more, ...whole.agents] }))
  expect(labels()).toEqual(['other-2: Needs input', 'worker-3: Needs input', 'Failed: Read them all'])
  expect(screen.getByText('2 more')).toBeTruthy()
  const cancelled = { status: 'cancelled', ended: START } as const
  const over = ITEMS.map((item) => ({ ...item, ...cancelled }))
  const left = teamWith(jobRow(cancelled), ...over)
  update(bar({ ...left, agents: left.agents.filter((agent) => agent.state !== 'needs_input') }))
  expect(screen.queryAllByRole('button', { name: /: / })).toEqual([])
})

test('the roster shows a job worker with its item', () => {
  show(<Roster team={teamWith(jobRow(), ...ITEMS)} openAgentId="" handlers={recordingHandlers(vi.fn())} />)
  expect(screen.getByRole('button', { name: /^worker-3/ }).textContent).toContain('worker-3· Read c')
  expect(screen.getByRole('button', { name: /^lead/ }).textContent).not.toContain('·')
})

test('finished job workers are folded, not rendered, and not announced', () => {
  const whole = teamWith(jobRow(), ...ITEMS)
  const labels = notificationRow({ key: 'ntf_1', agentId: 'worker-2', parentAgentId: 'lead', taskId: 'b' })
  const team: Team = { ...whole, notifications: [fillAs('notifications', labels)] }
  show(
    <>
      <Roster team={team} openAgentId="" handlers={recordingHandlers(vi.fn())} />
      <Lanes team={team} handlers={recordingHandlers(vi.fn())} />
    </>,
  )
  const names = within(screen.getByRole('list', { name: 'Agents' })).getAllByText(/^worker-/)
  expect(names.map((name) => name.textContent)).toEqual(['worker-3', 'worker-1'])
  expect(screen.getByRole('button', { name: '1 agent failed on a job item' })).toBeTruthy()
  expect(within(screen.getByRole('region', { name: 'Notifications' })).queryByText(/worker-2/)).toBeNull()
  expect(withoutDoneWorkers(team).agents.map((agent) => agent.key)).toEqual(['lead', 'worker-2', 'worker-3'])
})

test('the states of a job and its items come from their rows alone', () => {
  const team = teamWith(jobRow(), ...ITEMS, taskRow({ key: 'other' }))
  expect(team.tasks.filter(isJob).map((job) => [job.key, computeJobStatus(job)])).toEqual([
    ['tsk_j', 'running'],
  ])
  expect(team.tasks.filter(isItem).map(computeItemStatus)).toEqual([
    'completed',
    'failed',
    'running',
    'waiting',
  ])
  const pausedTeam = teamWith(
    itemRow('d', { status: 'blocked', ended: START, paused: true, attempts: [attempt()] }),
  )
  expect(pausedTeam.tasks.map(computeItemStatus)).toEqual(['failed'])
  expect(failedJobs(team.tasks)).toEqual([])
  const unsaid = { ...FAILED, blocker: '', attempts: [attempt({ status: 'failed', detail: 'model_auth' })] }
  expect(jobItems(teamWith(unsaid).tasks, 'job_1', []).map((item) => item.problem)).toEqual(['model_auth'])
  expect(team.tasks.filter(isJob).map(itemCounts)).toEqual([
    { completed: 12, failed: 2, running: 4, waiting: 22, cancelled: 0 },
  ])
})
