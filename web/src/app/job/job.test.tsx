import { cleanup, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeEach, expect, test } from 'vitest'
import { clearStorage, openPage } from '../../../dev/app-page'
import { RefusedAnswer } from '../../../dev/fake-server'
import {
  buildActionRow,
  buildAgentRow,
  buildSessionRow,
  buildStatusRow,
  buildTaskRow,
  buildTeamRow,
  SESSION,
  upsert,
} from '../../../dev/rows'
import { buildTeamScenario } from '../../../dev/scenarios/team-scenarios'

beforeEach(clearStorage)

const JOB = buildTaskRow({
  key: 'tsk_j',
  title: 'Read them all',
  entity: 'automation_job',
  status: 'running',
  job: 'job_1',
  items: { completed: 1, failed: 0, running: 1, waiting: 0, cancelled: 0 },
})
const RUNS = buildTaskRow({
  key: 'tsk_b',
  title: 'Read b',
  status: 'running',
  job: 'job_1',
  parentTask: 'tsk_j',
})

async function openPalette() {
  await userEvent.keyboard('{Control>}k{/Control}')
  return within(await screen.findByRole('dialog', { hidden: true }))
}

test('a job can start from a single agent, and appears on the board that it creates', async () => {
  const agents = [
    { name: 'lead', kind: 'main', description: '', added: true },
    { name: 'reader', kind: 'subagent', description: 'Reads.', added: false },
  ]
  let refused = true
  const { server } = await openPage(
    {
      answers: {
        list_agents: () => ({ sessionId: SESSION, agents, problems: 0, sequence: 1 }),
        create_job: () =>
          refused
            ? new RefusedAnswer(409, {
                code: 'unknown_agent',
                message: 'The reader is gone.',
                field: 'agent',
              })
            : { jobId: 'job_1', taskId: 'tsk_j', status: 'running' },
      },
    },
    `#/s/${SESSION}`,
  )
  await screen.findByText('Ready')
  await userEvent.click((await openPalette()).getByRole('option', { name: 'New job', hidden: true }))
  const dialog = within(await screen.findByRole('dialog', { name: 'New job', hidden: true }))
  await userEvent.type(dialog.getByLabelText('Title'), 'Read them all')
  await userEvent.type(dialog.getByLabelText('Items, one per line'), 'a{Enter}b')
  await userEvent.click(dialog.getByRole('button', { name: 'Start job', hidden: true }))
  expect(await dialog.findByText('The reader is gone.')).toBeTruthy()
  expect(dialog.getByLabelText('Subagent').getAttribute('aria-invalid')).toBe('true')
  refused = false
  await userEvent.click(dialog.getByRole('button', { name: 'Start job', hidden: true }))
  await waitFor(() => expect(screen.queryByRole('dialog', { name: 'New job', hidden: true })).toBeNull())
  expect(server.requests.at(-1)).toMatchObject({
    name: 'create_job',
    body: {
      sessionId: SESSION,
      title: 'Read them all',
      items: [{ input: 'a' }, { input: 'b' }],
      agent: 'reader',
    },
  })
  server.send(SESSION, [
    ...(buildTeamScenario().sessions[SESSION] ?? []),
    upsert('tasks', JOB),
    upsert('tasks', RUNS),
  ])
  const board = within(await screen.findByRole('region', { name: 'Board' }))
  expect(await board.findByRole('button', { name: 'Read them all' })).toBeTruthy()
  expect(board.queryByText('Read b')).toBeNull()
})

test('items missing from a snapshot are read on demand, and newer rows replace them', async () => {
  const items = [
    { itemId: 'tsk_a', title: 'Read a', status: 'completed', attempts: 1, output: 'It is short.' },
    { itemId: 'tsk_b', title: 'Read b', status: 'running', attempts: 1 },
  ]
  const own = buildTeamScenario()
  const rows = [...(own.sessions[SESSION] ?? []), upsert('tasks', JOB), upsert('tasks', RUNS)]
  const requests: unknown[] = []
  const get_job = (body: Record<string, string>) => {
    requests.push(body)
    return { sessionId: SESSION, jobId: 'job_1', taskId: 'tsk_j', title: '', status: 'running', items }
  }
  const { server } = await openPage({ sessions: { [SESSION]: rows }, answers: { get_job } }, `#/s/${SESSION}`)
  const nav = within(await screen.findByRole('navigation', { name: 'Team views' }))
  await userEvent.click(nav.getByRole('button', { name: 'Board' }))
  const card = await screen.findByRole('button', { name: 'Read them all' })
  expect(requests).toEqual([])
  await userEvent.click(card)
  const list = () => within(screen.getByRole('list', { name: 'Items of Read them all' }))
  expect(await list().findByText('It is short.')).toBeTruthy()
  expect(requests).toHaveLength(1)
  server.send(SESSION, [upsert('tasks', { ...RUNS, sequence: 9, status: 'done', summary: 'It is long.' })])
  expect(await list().findByText('It is long.')).toBeTruthy()
  expect(list().getAllByRole('listitem')).toHaveLength(2)
  await userEvent.click(nav.getByRole('button', { name: 'Board' }))
  expect(await screen.findByRole('region', { name: 'Board' })).toBeTruthy()
})

const BEGUN_BY_JOB = [
  upsert('session', buildSessionRow()),
  upsert('status', buildStatusRow({ key: 'thr_lead', threadId: 'thr_lead', agentId: 'lead' })),
  upsert('team', buildTeamRow({ lead: 'lead' })),
  upsert('agents', buildAgentRow({ key: 'lead', agentKind: 'main', state: 'idle' })),
  upsert(
    'agents',
    buildAgentRow({ key: 'reader-1', parentAgentId: 'lead', taskId: 'tsk_b', latestTurn: 'trn_1' }),
  ),
  upsert('tasks', { ...JOB, items: { completed: 0, failed: 0, running: 1, waiting: 0, cancelled: 0 } }),
  upsert('tasks', RUNS),
]

test('a session started by a job opens on the job, without taking the focus, and stays where it was left', async () => {
  const sessions = { [SESSION]: BEGUN_BY_JOB }
  await openPage({ sessions }, `#/s/${SESSION}`)
  expect(await screen.findByRole('list', { name: 'Items of Read them all' })).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Back to board' })).not.toBe(document.activeElement)
  const go = (view: string) => userEvent.click(screen.getByRole('button', { name: view }))
  await go('Conversation')
  expect(screen.queryByRole('list', { name: 'Items of Read them all' })).toBeNull()
  const reload = async () => {
    const left: unknown = window.history.state
    cleanup()
    const begun = openPage({ sessions }, `#/s/${SESSION}`)
    window.history.replaceState(left, '')
    await begun
    await screen.findByRole('navigation', { name: 'Team views' })
  }
  await reload()
  expect(screen.getByRole('button', { name: 'Conversation' }).getAttribute('aria-current')).toBe('page')
  await go('Board')
  await reload()
  expect(await screen.findByRole('list', { name: 'Items of Read them all' })).toBeTruthy()
  await go('Board')
  await reload()
  expect(await screen.findByRole('region', { name: 'Board' })).toBeTruthy()
})

test('a question of a job worker names its item', async () => {
  const asks = upsert('actions', buildActionRow({ agentId: 'reader-1', threadId: 'thr_reader-1' }))
  await openPage({ sessions: { [SESSION]: [...BEGUN_BY_JOB, asks] } }, `#/s/${SESSION}`)
  expect(await screen.findByText('Requested by reader-1 · Read b')).toBeTruthy()
})

test('a session with several jobs opens on its board; with a turn of the lead, on the conversation', async () => {
  const other = buildTaskRow({ ...JOB, key: 'tsk_k', title: 'Read others', job: 'job_2' })
  const several = [...BEGUN_BY_JOB, upsert('tasks', other)]
  await openPage({ sessions: { [SESSION]: several } }, `#/s/${SESSION}`)
  const board = within(await screen.findByRole('region', { name: 'Board' }))
  expect(board.getByRole('button', { name: 'Read others' })).toBeTruthy()
  cleanup()
  const lead = buildAgentRow({ key: 'lead', agentKind: 'main', state: 'idle', latestTurn: 'trn_0' })
  await openPage({ sessions: { [SESSION]: [...BEGUN_BY_JOB, upsert('agents', lead)] } }, `#/s/${SESSION}`)
  await screen.findByRole('navigation', { name: 'Team views' })
  expect(screen.getByRole('button', { name: 'Conversation' }).getAttribute('aria-current')).toBe('page')
})

test('a job on the first page starts a session, which is then shown', async () => {
  let refused = true
  const { server, services } = await openPage({
    sessions: { [SESSION]: BEGUN_BY_JOB },
    answers: {
      create_job: () =>
        refused
          ? new RefusedAnswer(409, {
              code: 'unknown_agent',
              message: 'Say which subagent works.',
              field: 'agent',
            })
          : { sessionId: SESSION, jobId: 'job_1', taskId: 'tsk_j', status: 'running' },
    },
  })
  await waitFor(() => expect(services.workbench.workspaceId).not.toBe(''))
  await userEvent.click((await openPalette()).getByRole('option', { name: 'New job', hidden: true }))
  const dialog = within(await screen.findByRole('dialog', { name: 'New job', hidden: true }))
  expect(dialog.getByRole('option', { name: 'Default', hidden: true })).toBeTruthy()
  await userEvent.type(dialog.getByLabelText('Title'), 'Read them all')
  await userEvent.type(dialog.getByLabelText('Items, one per line'), 'b')
  const start = () => userEvent.click(dialog.getByRole('button', { name: 'Start job', hidden: true }))
  await start()
  expect(await dialog.findByText('Say which subagent works.')).toBeTruthy()
  refused = false
  await userEvent.type(dialog.getByLabelText('Subagent'), 'reader')
  await start()
  expect(await screen.findByRole('list', { name: 'Items of Read them all' })).toBeTruthy()
  expect(screen.queryByRole('dialog', { name: 'New job', hidden: true })).toBeNull()
  const { workspaceId } = services.workbench
  expect(server.requests.filter(({ name }) => name === 'create_job').map(({ body }) => body)).toMatchObject([
    { workspaceId, title: 'Read them all', items: [{ input: 'b' }], agent: null },
    { workspaceId, title: 'Read them all', items: [{ input: 'b' }], agent: 'reader' },
  ])
})

test('a read-only session cannot start a job', async () => {
  const rows = [upsert('session', buildSessionRow({ source: 'codex' })), upsert('status', buildStatusRow())]
  await openPage({ sessions: { [SESSION]: rows } }, `#/s/${SESSION}`)
  await screen.findByRole('button', { name: 'New session here' })
  const offered = await openPalette()
  expect(await offered.findByText('Export evidence')).toBeTruthy()
  expect(offered.queryByText('New job')).toBeNull()
})
