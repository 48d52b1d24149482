import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { buildTeam, type Team } from '@/system/selectors/team'
import {
  buildAgentRow,
  buildEdgeRow,
  buildPosition,
  buildTeamRow,
  buildToolPart,
  runRow,
  START,
} from '../../../dev/rows'
import { CHINESE, fillAs, NO_BLOBS, show } from '../../../dev/surfaces'
import { recordHandlers } from '../../../dev/team-handlers'
import { Roster } from '../agent/roster'
import { Graph } from '../graph/graph'
import { Lanes } from '../lanes/lanes'
import { RunList } from '../run/run-list'
import { TeamBar } from './team-bar'

const did = vi.fn()
const HANDLERS = recordHandlers(did)

function createTeam(more: Partial<Team> = {}): Team {
  const agents = [
    fillAs('agents', buildAgentRow({ key: 'coordinator', agentKind: 'main', state: 'waiting' })),
    fillAs('agents', buildAgentRow({ key: 'worker-1', parentAgentId: 'coordinator', activity: 'answering' })),
  ]
  const none = { edges: [], tasks: [], handoffs: [], notifications: [], reviews: [], messages: [], runs: [] }
  const team = buildTeam(fillAs('team', buildTeamRow()), { agents, ...none, ...more })
  if (team === null) throw new Error('no team')
  return team
}

const buildRuns = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    fillAs(
      'runs',
      runRow({
        key: `run_${index + 1}`,
        order: index,
        turnId: `trn_${index + 1}`,
        started: START + index * 1e6,
      }),
    ),
  )

function renderRuns(team: Team) {
  return <RunList team={team} getParts={() => []} onNeedParts={() => {}} onOpenAgent={() => {}} />
}

const getCurrent = () =>
  within(screen.getByRole('list', { name: 'Runs' }))
    .getAllByRole('listitem')
    .findIndex((item) => within(item).queryByRole('button', { current: true }) !== null)

test('a pinned run stays when newer ones start; an unpinned one gives way (MAR-15)', async () => {
  const { update } = show(renderRuns(createTeam({ runs: buildRuns(2) })))
  expect(getCurrent()).toBe(0)
  update(renderRuns(createTeam({ runs: buildRuns(3) })))
  expect(getCurrent()).toBe(0)
  await userEvent.click(screen.getAllByRole('button', { name: 'Pin run' })[1] as HTMLElement)
  expect(getCurrent()).toBe(1)
  update(renderRuns(createTeam({ runs: buildRuns(5) })))
  expect(getCurrent()).toBe(3)
  await userEvent.click(screen.getByRole('button', { name: 'Unpin run' }))
  expect(getCurrent()).toBe(0)
})

test('a timeline is filtered by kind and by text', async () => {
  show(renderRuns(createTeam({ runs: buildRuns(1) })))
  const timeline = screen.getByRole('list', { name: 'Run timeline' })
  expect(within(timeline).getAllByRole('listitem')).toHaveLength(2)
  await userEvent.click(screen.getByRole('radio', { name: 'Tools' }))
  expect(timeline.textContent).toBe('No matching entries.')
})

test('a refused call reads the same in the timeline as in the conversation', () => {
  const refused = { state: 'output-error', code: 'person_denied', startedAt: 0 } as const
  const part = fillAs(
    'parts',
    buildToolPart(buildPosition('trn_1', 1, 2, 'cal_a'), 'Write', { ...refused, at: START + 1 }),
  )
  const team = createTeam({ runs: buildRuns(1) })
  show(<RunList team={team} getParts={() => [part]} onNeedParts={() => {}} onOpenAgent={() => {}} />)
  const moment = within(screen.getByRole('list', { name: 'Run timeline' })).getByText('Rejected')
  expect(moment.className).not.toContain('text-bad')
})

test('a stale graph stays and is marked; the list shows the same (UI-30)', async () => {
  const team = createTeam({ edges: [fillAs('edges', buildEdgeRow('child', 'coordinator', 'worker-1'))] })
  show(<Graph team={team} openAgentId="" stale onOpenAgent={HANDLERS.onOpenAgent} />)
  expect(screen.getByRole('status').textContent).toBe('Updates were missed. The graph may be out of date.')
  await userEvent.click(screen.getByRole('radio', { name: 'List' }))
  expect(screen.getByText('coordinator started worker-1')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'worker-1' }))
  expect(did).toHaveBeenCalledWith('open agent', 'worker-1')
})

test('rejected input stays and can be sent again', async () => {
  show(<Roster team={createTeam()} openAgentId="" handlers={HANDLERS} />)
  await userEvent.click(screen.getByRole('button', { name: 'Actions for worker-1' }))
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Send input' }))
  const field = screen.getByRole('textbox', { name: 'Input for worker-1' })
  await userEvent.type(field, 'Mind the lexer{Enter}')
  expect(field).toHaveProperty('value', 'Mind the lexer')
})

test('many ended agents are folded', () => {
  const done = Array.from({ length: 9 }, (_, index) =>
    fillAs('agents', buildAgentRow({ key: `worker-${index + 2}`, order: index + 3, state: 'completed' })),
  )
  const team = createTeam()
  show(<Roster team={{ ...team, agents: [...team.agents, ...done] }} openAgentId="" handlers={HANDLERS} />)
  expect(within(screen.getByRole('list', { name: 'Agents' })).getAllByRole('listitem')).toHaveLength(2)
  expect(screen.getByRole('button', { name: '9 finished agents' })).toBeTruthy()
})

test('limits are shown and are not failures; degraded views have plain texts (UI-24, UI-26)', () => {
  const row = fillAs(
    'team',
    buildTeamRow({
      teamQueuedCount: 3,
      queueReason: 'provider_budget',
      degraded: ['snapshot_stale'],
      owner: 'worker-1',
    }),
  )
  show(
    <TeamBar
      team={{ ...createTeam(), row }}
      view="board"
      onView={() => {}}
      onOpenAgent={() => {}}
      onResume={() => {}}
      openAgentId=""
      onOpenJob={() => {}}
    />,
  )
  expect(screen.getByText('3 queued agents').title).toBe('Waiting: provider limit reached')
  expect(screen.getByText('1 of 2 running')).toBeTruthy()
  expect(screen.getByText('May be out of date.')).toBeTruthy()
  expect(screen.getByText('worker-1 receives your messages.')).toBeTruthy()
})

test('all views of a team are available in Chinese', () => {
  const team = createTeam({ runs: buildRuns(1) })
  const { container } = show(
    <>
      <TeamBar
        team={team}
        view="lanes"
        onView={() => {}}
        onOpenAgent={() => {}}
        onResume={() => {}}
        openAgentId=""
        onOpenJob={() => {}}
      />
      <Roster team={team} openAgentId="worker-1" handlers={HANDLERS} />
      <Lanes team={team} handlers={HANDLERS} />
      <Graph team={team} openAgentId="" stale={false} onOpenAgent={() => {}} />
      {renderRuns(team)}
    </>,
    NO_BLOBS,
    CHINESE,
  )
  expect(
    container.textContent?.replace(/coordinator|worker-1|React Flow|\d\d:\d\d:\d\d|ms|AM|PM/g, ''),
  ).not.toMatch(/[A-Za-z]{2,}/)
})

test('a paused agent shows the reason, offers to resume, and does not count as working (D1)', async () => {
  const agents = [
    fillAs('agents', buildAgentRow({ key: 'coordinator', agentKind: 'main', state: 'idle' })),
    fillAs(
      'agents',
      buildAgentRow({ key: 'worker-1', state: 'needs_input', activity: 'paused', paused: 'unread' }),
    ),
  ]
  const team = createTeam({ agents })
  const onResume = vi.fn()
  const props = {
    team,
    view: 'conversation',
    onView: vi.fn(),
    onOpenAgent: vi.fn(),
    onOpenJob: vi.fn(),
  } as const
  const { update } = show(<TeamBar {...props} onResume={onResume} openAgentId="coordinator" />)
  expect(screen.getByText('worker-1: Paused: unread messages')).toBeTruthy()
  expect(screen.getByText('0 of 2 running')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Resume worker-1' }))
  expect(onResume).toHaveBeenCalledWith(agents[1])
  // The open conversation has this control beside the composer.
  update(<TeamBar {...props} onResume={onResume} openAgentId="worker-1" />)
  expect(screen.queryByRole('button', { name: 'Resume worker-1' })).toBeNull()
})
