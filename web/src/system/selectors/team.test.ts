import { expect, test } from 'vitest'
import { actionRow, agentRow, edgeRow, teamRow } from '../../../dev/rows'
import { fillAs } from '../../../dev/surfaces'
import type { AgentRow } from '../rows/model'
import { buildLines, buildTeam, countAtWork, findAsker, findOrphans, sortRoster, type Team } from './team'

const agent = (key: string, change: Partial<Parameters<typeof agentRow>[0]> = {}) =>
  fillAs('agents', agentRow({ key, ...change }))
const LEAD = agent('coordinator', { agentKind: 'main', state: 'idle' })

function teamWith(agents: readonly AgentRow[], more: Partial<Team> = {}): Team {
  const none = { edges: [], tasks: [], handoffs: [], notifications: [], reviews: [], messages: [], runs: [] }
  const team = buildTeam(fillAs('team', teamRow()), { agents: [LEAD, ...agents], ...none, ...more })
  if (team === null) throw new Error('no team')
  return team
}

test('agents that need a person precede running ones, and no others do (UI-24)', () => {
  const states = [
    'closed',
    'running',
    'waiting',
    'failed',
    'idle',
    'plan_ready',
    'spawning',
    'needs_input',
  ] as const
  const team = teamWith(states.map((state, order) => agent(state, { state, order })))
  expect(sortRoster(team).map((agent) => agent.name)).toEqual([
    'coordinator',
    'needs_input',
    'plan_ready',
    'failed',
    'running',
    'spawning',
    'waiting',
    'idle',
    'closed',
  ])
  expect(countAtWork(team.agents)).toBe(4)
})

test('a line with an unknown end is not drawn, and a child without its parent is reported (UI-26)', () => {
  const orphan = agent('worker-1', { parentAgentId: 'gone' })
  const edges = [edgeRow('child', 'gone', 'worker-1'), edgeRow('path', 'coordinator', 'worker-1')]
  const team = teamWith([orphan], { edges: edges.map((row) => fillAs('edges', row)) })
  expect(buildLines(team).map((line) => line.edge.key)).toEqual(['path:coordinator>worker-1'])
  expect(findOrphans(team)).toEqual([orphan])
})

test('a request of a child names the child and its parent; a single agent is not named (UI-10)', () => {
  const team = teamWith([agent('worker-1', { parentAgentId: 'coordinator' })])
  const action = fillAs('actions', actionRow({ agentId: 'worker-1' }))
  expect(findAsker(team, action)).toEqual({ name: 'worker-1', parent: 'coordinator' })
  expect(findAsker(null, action)).toBeNull()
})

test('a team of one is no team (UI-18)', () => {
  const { row, ...rows } = teamWith([])
  expect(buildTeam({ ...row, topology: 'solo_run' }, rows)).toBeNull()
  expect(buildTeam(null, rows)).toBeNull()
})
