import { expect, test } from 'vitest'
import {
  agentRow,
  handoffRow,
  notificationRow,
  place,
  runRow,
  START,
  taskRow,
  teamRow,
  textPart,
  toolPart,
} from '../../../dev/rows'
import { fillAs } from '../../../dev/surfaces'
import type { AnyRow } from '../generated/contracts'
import type { Part } from '../rows/model'
import { buildTimeline, momentText } from './run-timeline'
import { buildTeam, type Team } from './team'

const at = (seconds: number) => START + seconds * 1_000_000
const run = fillAs('runs', runRow({ key: 'run_1', turnId: 'trn_a', started: at(10), ended: at(60) }))

function teamWith(more: Partial<Team>): Team {
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
  const team = buildTeam(fillAs('team', teamRow()), { ...none, ...more })
  if (team === null) throw new Error('no team')
  return team
}

function part(seconds: number, row: AnyRow): Part {
  return { ...fillAs('parts', row), at: at(seconds) }
}

test('a timeline has start, tools, started and ended children, and end, in order', () => {
  const team = teamWith({
    agents: [
      fillAs(
        'agents',
        agentRow({ key: 'worker-1', parentAgentId: 'coordinator', parentRunId: 'run_1', taskId: 'tsk_1' }),
      ),
    ],
    tasks: [fillAs('tasks', taskRow({ key: 'tsk_1', created: at(20) }))],
    notifications: [fillAs('notifications', notificationRow({ key: 'ntf_1', at: at(50) }))],
    handoffs: [fillAs('handoffs', handoffRow({ key: 'hnd_1', requested: at(30) }))],
  })
  const parts = [
    part(15, toolPart(place('trn_a', 1, 1, 'cal_a'), 'Read', { summary: 'a.py' })),
    part(55, textPart(place('trn_a', 1, 2), 'All is done.')),
  ]
  expect(
    buildTimeline(run, team, parts).map((moment) => `${moment.kind} ${momentText(moment)}`.trim()),
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
    part(5, toolPart(place('trn_a', 1, 1, 'cal_before'), 'Read')),
    part(20, toolPart(place('trn_a', 1, 2, 'cal_own'), 'Grep')),
    part(70, toolPart(place('trn_a', 1, 3, 'cal_after'), 'Write')),
  ]
  const late = fillAs('notifications', notificationRow({ key: 'ntf_1', at: at(90) }))
  const other = fillAs('agents', agentRow({ key: 'worker-2', parentRunId: 'run_2' }))
  const moments = buildTimeline(run, teamWith({ notifications: [late], agents: [other] }), parts)
  expect(moments.map((moment) => moment.key)).toEqual(['started', 'cal_own', 'ended'])
})
