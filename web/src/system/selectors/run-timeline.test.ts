import { expect, test } from 'vitest'
import {
  buildAgentRow,
  buildHandoffRow,
  buildNotificationRow,
  buildPosition,
  buildTaskRow,
  buildTeamRow,
  buildTextPart,
  buildToolPart,
  runRow,
  START,
} from '../../../dev/rows'
import { fillAs } from '../../../dev/surfaces'
import type { AnyRow } from '../generated/contracts'
import type { Part } from '../rows/model'
import { buildTimeline, getSearchText } from './run-timeline'
import { buildTeam, type Team } from './team'

const atSecond = (seconds: number) => START + seconds * 1_000_000
const run = fillAs(
  'runs',
  runRow({ key: 'run_1', turnId: 'trn_a', started: atSecond(10), ended: atSecond(60) }),
)

function createTeam(more: Partial<Team>): Team {
  const none = {
    agents: [],
    edges: [],
    tasks: [],
    handoffs: [],
    notifications: [],
    reviews: [],
    messages: [],
    runs: [run],
  }
  const team = buildTeam(fillAs('team', buildTeamRow()), { ...none, ...more })
  if (team === null) throw new Error('no team')
  return team
}

function buildPart(seconds: number, row: AnyRow): Part {
  return { ...fillAs('parts', row), at: atSecond(seconds) }
}

test('a timeline has start, tools, started and ended children, and end, in order', () => {
  const team = createTeam({
    agents: [
      fillAs(
        'agents',
        buildAgentRow({
          key: 'worker-1',
          parentAgentId: 'coordinator',
          parentRunId: 'run_1',
          taskId: 'tsk_1',
        }),
      ),
    ],
    tasks: [fillAs('tasks', buildTaskRow({ key: 'tsk_1', created: atSecond(20) }))],
    notifications: [fillAs('notifications', buildNotificationRow({ key: 'ntf_1', at: atSecond(50) }))],
    handoffs: [fillAs('handoffs', buildHandoffRow({ key: 'hnd_1', requested: atSecond(30) }))],
  })
  const parts = [
    buildPart(15, buildToolPart(buildPosition('trn_a', 1, 1, 'cal_a'), 'Read', { summary: 'a.py' })),
    buildPart(55, buildTextPart(buildPosition('trn_a', 1, 2), 'All is done.')),
  ]
  expect(
    buildTimeline(run, team, parts).map((moment) => `${moment.kind} ${getSearchText(moment)}`.trim()),
  ).toEqual([
    'started',
    'tool Read a.py',
    'spawned worker-1',
    'handoff database The migration is yours from here.',
    'returned worker-1 The lexer is read once.',
    'text All is done.',
    'ended',
  ])
})

test('events of another run of the same turn are not included (MAR-15)', () => {
  const parts = [
    buildPart(5, buildToolPart(buildPosition('trn_a', 1, 1, 'cal_before'), 'Read')),
    buildPart(20, buildToolPart(buildPosition('trn_a', 1, 2, 'cal_own'), 'Grep')),
    buildPart(70, buildToolPart(buildPosition('trn_a', 1, 3, 'cal_after'), 'Write')),
  ]
  const late = fillAs('notifications', buildNotificationRow({ key: 'ntf_1', at: atSecond(90) }))
  const other = fillAs('agents', buildAgentRow({ key: 'worker-2', parentRunId: 'run_2' }))
  const moments = buildTimeline(run, createTeam({ notifications: [late], agents: [other] }), parts)
  expect(moments.map((moment) => moment.key)).toEqual(['started', 'cal_own', 'ended'])
})
