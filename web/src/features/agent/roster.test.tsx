import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type * as wire from '@/system/generated/contracts'
import { buildTeam, type Team } from '@/system/selectors/team'
import { buildAgentRow, buildTeamRow, runRow, START } from '../../../dev/rows'
import { CHINESE, fillAs, NO_BLOBS, show } from '../../../dev/surfaces'
import { recordHandlers } from '../../../dev/team-handlers'
import { AddDialog } from './add-agent'
import { Roster } from './roster'

const NONE = { edges: [], tasks: [], handoffs: [], notifications: [], reviews: [], messages: [], runs: [] }

function showRoster(agent: wire.AgentRow, more: Partial<Team> = {}) {
  const agents = [
    fillAs('agents', buildAgentRow({ key: 'lead', agentKind: 'main' })),
    fillAs('agents', agent),
  ]
  const team = buildTeam(fillAs('team', buildTeamRow({ lead: 'lead' })), { agents, ...NONE, ...more })
  if (team === null) throw new Error('no team')
  const did = vi.fn()
  return { did, surface: <Roster team={team} openAgentId="" handlers={recordHandlers(did)} /> }
}

const buildSleeper = (change: Partial<wire.BackgroundWork> = {}) =>
  buildAgentRow({
    key: 'watcher',
    agentKind: 'background',
    state: 'idle',
    background: {
      state: 'sleeping',
      taskId: 'tsk_w',
      schedule: 'every 1800 s',
      wakeAt: (Date.now() + 12 * 60_000) * 1000,
      wakeReason: 'schedule',
      wokeAt: (Date.now() - 18 * 60_000) * 1000,
      lastRun: 'run_1',
      lastRunStatus: 'failed',
      ...change,
    },
  })

const openDetails = (name: string) =>
  userEvent.click(screen.getByRole('button', { name: `Show details of ${name}` }))

test('a background agent shows its next wake, the reason of its last wake, and its last run (UI-22)', async () => {
  const runs = [
    fillAs('runs', runRow({ key: 'run_1', agentId: 'watcher', status: 'failed', started: START })),
  ]
  const { surface, did } = showRoster(buildSleeper(), { runs })
  show(surface)
  expect(screen.getByText('Sleeping')).toBeTruthy()
  expect(screen.getByText(/^next run .*, in 12/)).toBeTruthy()
  await openDetails('watcher')
  const facts = within(screen.getByRole('region', { name: 'Background agent watcher' }))
  expect(facts.getByText('every 30m')).toBeTruthy()
  expect(facts.getByText(/By schedule/)).toBeTruthy()
  expect(facts.getByText('Failed')).toBeTruthy()
  await userEvent.click(facts.getByRole('button', { name: /Last run of watcher/ }))
  await userEvent.click(facts.getByRole('button', { name: 'Pause' }))
  expect(did.mock.calls).toEqual([
    ['open run', 'run_1'],
    ['pause task', 'tsk_w'],
  ])
})

test('ending a background agent asks first; a paused one can be resumed (UI-22)', async () => {
  const { surface, did } = showRoster(buildSleeper({ state: 'paused' }))
  show(surface)
  expect(screen.getByText('Paused')).toBeTruthy()
  await openDetails('watcher')
  await userEvent.click(screen.getByRole('button', { name: 'Resume' }))
  await userEvent.click(screen.getByRole('button', { name: 'End' }))
  expect(did.mock.calls).toEqual([['resume task', 'tsk_w']])
  const dialog = screen.getByRole('dialog', { name: 'End watcher?', hidden: true })
  await userEvent.click(within(dialog).getByRole('button', { name: 'End', hidden: true }))
  expect(did).toHaveBeenLastCalledWith('cancel task', 'tsk_w')
})

test('a cron schedule is shown in words, in the page’s language', async () => {
  const { surface } = showRoster(buildSleeper({ schedule: '0 9 * * 1-5' }))
  const { unmount } = show(surface)
  await openDetails('watcher')
  expect(await screen.findByText('At 09:00, Monday through Friday (UTC)')).toBeTruthy()
  unmount()
  show(surface, NO_BLOBS, CHINESE)
  await userEvent.click(screen.getByRole('button', { name: /watcher/, expanded: false }))
})

test.each([
  'scheduled',
  'sleeping',
  'waking',
  'running',
  'blocked',
  'paused',
  'failed',
  'completed',
  'unknown',
] as const)('each state of a background agent has a text: %s', (state) => {
  show(showRoster(buildSleeper({ state })).surface)
  const words = { scheduled: 'Scheduled', completed: 'Done', unknown: 'Unknown' } as const
  const label = state in words ? words[state as keyof typeof words] : state[0]?.toUpperCase() + state.slice(1)
  expect(screen.getAllByText(label).length).toBeGreaterThan(0)
})

const CARD = {
  name: 'Linter',
  skills: [{ id: 'lint', name: 'Lint', description: 'Finds what is wrong.' }],
  provider: { organization: 'Acme' },
}

const buildRemote = (change: Partial<wire.RemoteWork> = {}, row: Partial<wire.AgentRow> = {}) =>
  buildAgentRow({
    key: 'linter',
    agentKind: 'remote',
    state: 'idle',
    remote: {
      url: 'https://lint.example/a2a',
      name: 'Linter',
      version: '2.1',
      card: { text: JSON.stringify(CARD) },
      taskId: 't1',
      taskState: 'working',
      toldAt: (Date.now() - 120_000) * 1000,
      ...change,
    },
    ...row,
  })

test('an idle remote agent is not done: its last report has a time (UI-23)', async () => {
  show(showRoster(buildRemote()).surface)
  expect(screen.getByText('Idle')).toBeTruthy()
  expect(screen.getByText('last status: Working')).toBeTruthy()
  expect(screen.queryByText('Done')).toBeNull()
  await openDetails('linter')
  const facts = within(screen.getByRole('region', { name: 'linter, remote agent' }))
  expect(facts.getByText('Linter 2.1')).toBeTruthy()
  expect(facts.getByText(/^updated 2.* ago$/)).toBeTruthy()
  await userEvent.click(facts.getByRole('button', { name: 'Agent card' }))
  expect(facts.getByText('Finds what is wrong.')).toBeTruthy()
  expect(facts.getByText('Provided by Acme')).toBeTruthy()
})

test('a URL is text, followed only on purpose and without a referrer (UI-23)', async () => {
  const artifacts = [
    {
      artifactId: 'a1',
      name: 'report',
      parts: [
        { media: 'text/plain', text: { text: 'All is well.' } },
        { media: 'application/json', text: { text: '{"found":3}' } },
        { media: 'image/png', name: 'plot.png', url: 'javascript:alert(1)' },
      ],
    },
  ]
  show(showRoster(buildRemote({ artifacts })).surface)
  await openDetails('linter')
  await userEvent.click(screen.getByRole('button', { name: 'report' }))
  expect(screen.getByText('All is well.')).toBeTruthy()
  expect(screen.getByRole('group', { name: 'Data' }).textContent).toBe('found: 3')
  expect(screen.getByText('javascript:alert(1)')).toBeTruthy()
  const links = screen.getAllByRole('link')
  expect(links.map((link) => [link.getAttribute('href'), link.getAttribute('rel')])).toEqual([
    ['https://lint.example/a2a', 'noopener noreferrer'],
  ])
})

test('an unreachable agent reads unknown and can be retried (UI-23)', async () => {
  const { surface, did } = showRoster(
    buildRemote({}, { degraded: ['remote_unavailable'], connection: 'disconnected' }),
  )
  show(surface)
  await openDetails('linter')
  const alert = within(screen.getByRole('alert'))
  expect(alert.getByText('Cannot reach the remote agent. Its state is unknown.')).toBeTruthy()
  await userEvent.click(alert.getByRole('button', { name: 'Retry' }))
  expect(did).toHaveBeenLastCalledWith('retry agent', 'linter')
})

test('an agent with an open request waits for the person; without one it lacks a permission', () => {
  const blocked = { key: 'w', state: 'waiting', degraded: ['permission_blocked'] } as const
  const { unmount } = show(showRoster(buildAgentRow({ ...blocked, blockedOn: 'act_1' })).surface)
  expect(screen.getByText('Waiting for your approval.')).toBeTruthy()
  unmount()
  show(showRoster(buildAgentRow(blocked)).surface)
  expect(screen.getByText('Blocked: permission missing.')).toBeTruthy()
})

test('an agent is added by name; an empty name is refused', async () => {
  const { surface, did } = showRoster(buildAgentRow({ key: 'w' }))
  show(surface)
  await userEvent.click(screen.getByRole('button', { name: 'Add agent' }))
  const dialog = within(screen.getByRole('dialog', { name: 'Add agent', hidden: true }))
  await userEvent.click(dialog.getByRole('button', { name: 'Add', hidden: true }))
  expect(dialog.getByRole('alert', { hidden: true }).textContent).toBe('Enter an agent name.')
  await userEvent.type(dialog.getByRole('combobox', { hidden: true }), 'watcher{Enter}')
  expect(did).toHaveBeenLastCalledWith('add agent', 'watcher')
})

test('an agent of the folder is offered with its description, and added with a click', async () => {
  const { surface, did } = showRoster(buildAgentRow({ key: 'w' }))
  show(surface)
  await userEvent.click(screen.getByRole('button', { name: 'Add agent' }))
  const dialog = within(screen.getByRole('dialog', { name: 'Add agent', hidden: true }))
  await userEvent.click(await dialog.findByRole('button', { name: /watcher/, hidden: true }))
  expect(did).toHaveBeenLastCalledWith('add agent', 'watcher')
})

test('an unknown agent is refused in the dialog, with the available names', async () => {
  const refused = {
    code: 'unknown_agent',
    message: 'There is no definition wacher.',
    hint: 'There are: watcher.',
    field: '',
  }
  const onAdd = vi.fn(async () => refused)
  show(<AddDialog agents={[]} offers={[]} onAdd={onAdd} onDone={vi.fn()} />)
  const dialog = within(screen.getByRole('dialog', { hidden: true }))
  await userEvent.type(dialog.getByRole('combobox', { hidden: true }), 'wacher{Enter}')
  expect((await dialog.findByRole('alert', { hidden: true })).textContent).toContain('There are: watcher.')
  expect(onAdd.mock.calls).toEqual([['wacher']])
})

test('a subagent is not added, and the message addresses a person', async () => {
  const refused = {
    code: 'delegate_target_denied',
    message: 'worker is a subagent: it works for one parent.',
    hint: 'spawn_subagent gives it an objective.',
    field: '',
  }
  show(<AddDialog agents={[]} offers={[]} onAdd={async () => refused} onDone={vi.fn()} />)
  const dialog = within(screen.getByRole('dialog', { hidden: true }))
  await userEvent.type(dialog.getByRole('combobox', { hidden: true }), 'worker{Enter}')
  expect((await dialog.findByRole('alert', { hidden: true })).textContent).toBe(
    'worker is a subagent. Ask an agent in the conversation to start it.',
  )
})
