import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type * as wire from '@/system/generated/contracts'
import {
  computeItemStatus,
  computeJobStatus,
  countItems,
  hideDoneWorkers,
  isItem,
  isJob,
  listFailedJobs,
  listJobItems,
} from '@/system/selectors/job'
import { buildTeam, type Team } from '@/system/selectors/team'
import { buildAgentRow, buildNotificationRow, buildTaskRow, buildTeamRow, START } from '../../../dev/rows'
import { CHINESE, fillAs, NO_BLOBS, show } from '../../../dev/surfaces'
import { recordHandlers } from '../../../dev/team-handlers'
import { Roster } from '../agent/roster'
import { Board } from '../board/board'
import { Lanes } from '../lanes/lanes'
import { ReadOnlyProvider } from '../shared/surface'
import { TeamBar } from '../team/team-bar'

const buildAttempt = (change: Partial<wire.AttemptRow> = {}): wire.AttemptRow => ({
  runId: 'run_1',
  status: 'running',
  number: 1,
  agentId: 'worker-1',
  started: START,
  ...change,
})
const buildJobRow = (change: Partial<wire.TaskRow> = {}) =>
  buildTaskRow({
    key: 'tsk_j',
    title: 'Read them all',
    entity: 'automation_job',
    status: 'running',
    job: 'job_1',
    items: { completed: 12, failed: 2, running: 4, waiting: 22, cancelled: 0 },
    assignee: 'worker',
    attempts: [buildAttempt({ agentId: '', runId: '' })],
    ...change,
  })
const buildItemRow = (key: string, change: Partial<wire.TaskRow> = {}) =>
  buildTaskRow({ key, title: `Read ${key}`, job: 'job_1', parentTask: 'tsk_j', ...change })
const FAILED = buildItemRow('b', {
  order: 2,
  status: 'blocked',
  blocker: 'The file is no text.',
  ended: START,
  attempts: [buildAttempt({ status: 'failed', ended: START, agentId: 'worker-2' })],
})
const ITEMS = [
  buildItemRow('a', {
    order: 1,
    status: 'done',
    summary: 'It is short.',
    ended: START,
    attempts: [buildAttempt({ status: 'completed', ended: START })],
  }),
  FAILED,
  buildItemRow('c', {
    order: 3,
    status: 'running',
    attempts: [
      buildAttempt({ status: 'failed' }),
      buildAttempt({ number: 2, runId: 'run_3', agentId: 'worker-3' }),
    ],
  }),
  buildItemRow('d', { order: 4 }),
]

function createTeam(...tasks: readonly wire.TaskRow[]): Team {
  const agents = [
    fillAs('agents', buildAgentRow({ key: 'lead', agentKind: 'main', state: 'idle' })),
    fillAs('agents', buildAgentRow({ key: 'worker-1', state: 'closed', taskId: 'a' })),
    fillAs('agents', buildAgentRow({ key: 'worker-2', state: 'failed', taskId: 'b' })),
    fillAs('agents', buildAgentRow({ key: 'worker-3', state: 'needs_input', taskId: 'c' })),
  ]
  const none = { edges: [], handoffs: [], notifications: [], reviews: [], messages: [], runs: [] }
  const rows = { ...none, agents, tasks: tasks.map((task) => fillAs('tasks', task)) }
  const team = buildTeam(fillAs('team', buildTeamRow({ lead: 'lead' })), rows)
  if (team === null) throw new Error('no team')
  return team
}

function showBoard(tasks: readonly wire.TaskRow[], job = '', t = undefined as typeof CHINESE | undefined) {
  const did = vi.fn()
  const { update } = show(
    <Board team={createTeam(...tasks)} job={job} handlers={recordHandlers(did)} />,
    NO_BLOBS,
    t,
  )
  return {
    did,
    goTo: (next: string) =>
      update(<Board team={createTeam(...tasks)} job={next} handlers={recordHandlers(did)} />),
  }
}

const openMenu = async (name = 'Actions for Read them all') => {
  await userEvent.click(screen.getByRole('button', { name }))
  const entries = await screen.findAllByRole('menuitem')
  return entries.map((entry) => entry.textContent)
}

const choose = (name: string) => userEvent.click(screen.getByRole('menuitem', { name }))

test('a job is one card with its progress in words and as a bar; its items are not cards', () => {
  showBoard([buildJobRow(), ...ITEMS])
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
  showBoard([buildJobRow(), ...ITEMS], '', CHINESE)
  expect(screen.getByText('已完成 12/40，2 个失败，4 个正在运行，22 个等待中')).toBeTruthy()
})

test('the card does not offer what a job refuses: its items move it on', async () => {
  const { did } = showBoard([buildJobRow(), ...ITEMS])
  expect(await openMenu()).toEqual(['Retry failed items', 'Pause', 'Export evidence', 'Cancel job'])
  await choose('Pause')
  await openMenu()
  await choose('Retry failed items')
  await openMenu()
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
  showBoard([buildJobRow(change)])
  const card = screen.getByRole('progressbar').closest('li')
  expect(within(card as HTMLElement).getByText(words)).toBeTruthy()
  expect(await openMenu()).toEqual(offered)
})

test('a card opens the list of its items: state, worker and result of each', async () => {
  const { did, goTo } = showBoard([buildJobRow(), ...ITEMS])
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
  const { did } = showBoard([buildJobRow(), ...ITEMS], 'tsk_j')
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
  const detail = {
    ...buildAttempt({ status: 'failed', ended: START, agentId: 'worker-2' }),
    detail: 'model_auth',
  }
  const cancelled = { status: 'cancelled', ended: START } as const
  const items = [
    buildItemRow('b', { ...cancelled, order: 2, blocker: 'The file is no text.', attempts: [detail] }),
    buildItemRow('c', { ...cancelled, order: 3, attempts: [detail] }),
    buildItemRow('d', { ...cancelled, order: 4, attempts: [buildAttempt({ status: 'cancelled' })] }),
    buildItemRow('e', { ...cancelled, order: 5 }),
  ]
  const counts = { completed: 0, failed: 2, running: 0, waiting: 0, cancelled: 2 }
  const job = buildJobRow({ ...cancelled, items: counts })
  expect(computeJobStatus(fillAs('tasks', job))).toBe('cancelled')
  const stands = listJobItems(createTeam(job, ...items).tasks, 'job_1', []).map((item) => [
    item.status,
    item.problem,
  ])
  expect(stands).toEqual([
    ['failed', 'The file is no text.'],
    ['failed', 'model_auth'],
    ['cancelled', ''],
    ['cancelled', ''],
  ])
  showBoard([job, ...items], 'tsk_j')
  expect(screen.getByRole('radio', { name: 'Failed 2' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: /^Retry|^Cancel/ })).toBeNull()
})

test('waiting items of a paused job read paused, in counts and list', () => {
  const counts = { completed: 1, failed: 1, running: 0, waiting: 2, cancelled: 0 }
  const items = [
    ...ITEMS.slice(0, 2),
    buildItemRow('c', { order: 3, status: 'blocked', paused: true, attempts: [buildAttempt()] }),
    buildItemRow('d', { order: 4 }),
  ]
  showBoard([buildJobRow({ status: 'blocked', paused: true, items: counts }), ...items], 'tsk_j')
  expect(screen.getByText('1 of 4 done · 1 failed · 2 paused')).toBeTruthy()
  const filters = screen
    .getAllByRole('radio')
    .map((button) => button.getAttribute('aria-label') ?? button.parentElement?.textContent)
  expect(filters).toEqual(['All 4', 'Failed 1', 'Paused 2', 'Done 1'])
})

test('items are filtered by state, each with its full record', async () => {
  showBoard([buildJobRow(), ...ITEMS], 'tsk_j')
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
      team={createTeam(buildJobRow(), FAILED)}
      job="tsk_j"
      items={read}
      handlers={recordHandlers(vi.fn())}
    />,
  )
  const items = within(screen.getByRole('list', { name: 'Items of Read them all' })).getAllByRole('listitem')
  expect(items.map((item) => item.textContent)).toEqual([
    'Read aDone2 attemptsIt is short.',
    'Read bRetryFailedworker-2The file is no text.',
  ])
})

test('only the visible part of five hundred items is rendered', () => {
  const many = Array.from({ length: 500 }, (_, index) => buildItemRow(`i${index}`, { order: index }))
  showBoard([buildJobRow(), ...many], 'tsk_j')
  const drawn = within(screen.getByRole('list', { name: 'Items of Read them all' })).getAllByRole('listitem')
  expect(drawn.length).toBeLessThan(60)
  expect(drawn[0]?.getAttribute('aria-setsize')).toBe('500')
})

test('a job in a read-only session can be read but not changed', () => {
  const team = createTeam(buildJobRow(), ...ITEMS)
  show(
    <ReadOnlyProvider value={true}>
      <Board team={team} job="tsk_j" handlers={recordHandlers(vi.fn())} />
    </ReadOnlyProvider>,
  )
  expect(screen.queryByRole('button', { name: /^Actions for|^Retry|^Cancel/ })).toBeNull()
})

test('a failed job is shown beside agents that need a person; its failed items are shown by the job', async () => {
  const onOpenJob = vi.fn()
  const renderBar = (team: Team) => (
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
  const { update } = show(renderBar(createTeam(buildJobRow(), ...ITEMS)))
  expect(screen.getByRole('button', { name: 'worker-3: Needs input' })).toBeTruthy()
  expect(screen.queryByText(/Failed/)).toBeNull()
  update(renderBar(createTeam(buildJobRow({ ended: START, status: 'blocked' }), ...ITEMS)))
  await userEvent.click(screen.getByRole('button', { name: 'Failed: Read them all' }))
  expect(onOpenJob.mock.calls).toEqual([['tsk_j']])
})

test('agents that need a person precede failed ones, and failed workers do not appear beside their job', () => {
  const renderBar = (team: Team) => (
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
  const readLabels = () => screen.getAllByRole('button', { name: /: / }).map((button) => button.textContent)
  const whole = createTeam(buildJobRow({ ended: START, status: 'blocked' }), ...ITEMS)
  const others = ['failed', 'failed', 'needs_input'] as const
  const more = others.map((state, order) =>
    fillAs('agents', buildAgentRow({ key: `other-${order}`, state, order: order - 9, taskId: '' })),
  )
  const { update } = show(renderBar({ ...whole, agents: [...more, ...whole.agents] }))
  expect(readLabels()).toEqual(['other-2: Needs input', 'worker-3: Needs input', 'Failed: Read them all'])
  expect(screen.getByText('2 more')).toBeTruthy()
  const cancelled = { status: 'cancelled', ended: START } as const
  const cancelledItems = ITEMS.map((item) => ({ ...item, ...cancelled }))
  const left = createTeam(buildJobRow(cancelled), ...cancelledItems)
  update(renderBar({ ...left, agents: left.agents.filter((agent) => agent.state !== 'needs_input') }))
  expect(screen.queryAllByRole('button', { name: /: / })).toEqual([])
})

test('the roster shows a job worker with its item', () => {
  show(
    <Roster team={createTeam(buildJobRow(), ...ITEMS)} openAgentId="" handlers={recordHandlers(vi.fn())} />,
  )
  expect(screen.getByRole('button', { name: /^worker-3/ }).textContent).toContain('worker-3· Read c')
  expect(screen.getByRole('button', { name: /^lead/ }).textContent).not.toContain('·')
})

test('finished job workers are folded, not rendered, and not announced', () => {
  const whole = createTeam(buildJobRow(), ...ITEMS)
  const labels = buildNotificationRow({
    key: 'ntf_1',
    agentId: 'worker-2',
    parentAgentId: 'lead',
    taskId: 'b',
  })
  const team: Team = { ...whole, notifications: [fillAs('notifications', labels)] }
  show(
    <>
      <Roster team={team} openAgentId="" handlers={recordHandlers(vi.fn())} />
      <Lanes team={team} handlers={recordHandlers(vi.fn())} />
    </>,
  )
  const names = within(screen.getByRole('list', { name: 'Agents' })).getAllByText(/^worker-/)
  expect(names.map((name) => name.textContent)).toEqual(['worker-3', 'worker-1'])
  expect(screen.getByRole('button', { name: '1 agent failed on a job item' })).toBeTruthy()
  expect(within(screen.getByRole('region', { name: 'Notifications' })).queryByText(/worker-2/)).toBeNull()
  expect(hideDoneWorkers(team).agents.map((agent) => agent.key)).toEqual(['lead', 'worker-2', 'worker-3'])
})

test('the states of a job and its items come from their rows alone', () => {
  const team = createTeam(buildJobRow(), ...ITEMS, buildTaskRow({ key: 'other' }))
  expect(team.tasks.filter(isJob).map((job) => [job.key, computeJobStatus(job)])).toEqual([
    ['tsk_j', 'running'],
  ])
  expect(team.tasks.filter(isItem).map(computeItemStatus)).toEqual([
    'completed',
    'failed',
    'running',
    'waiting',
  ])
  const pausedTeam = createTeam(
    buildItemRow('d', { status: 'blocked', ended: START, paused: true, attempts: [buildAttempt()] }),
  )
  expect(pausedTeam.tasks.map(computeItemStatus)).toEqual(['failed'])
  expect(listFailedJobs(team.tasks)).toEqual([])
  const unsaid = {
    ...FAILED,
    blocker: '',
    attempts: [buildAttempt({ status: 'failed', detail: 'model_auth' })],
  }
  expect(listJobItems(createTeam(unsaid).tasks, 'job_1', []).map((item) => item.problem)).toEqual([
    'model_auth',
  ])
  expect(team.tasks.filter(isJob).map(countItems)).toEqual([
    { completed: 12, failed: 2, running: 4, waiting: 22, cancelled: 0 },
  ])
})
