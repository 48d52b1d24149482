import { expect, test } from 'vitest'
import { buildActionRow, buildAgentRow, buildEdgeRow, buildTeamRow } from '../../../dev/rows'
import { fillAs } from '../../../dev/surfaces'
import type { AgentRow } from '../rows/model'
import { buildLines, buildTeam, countAtWork, findAsker, findOrphans, sortRoster, type Team } from './team'

const buildAgent = (key: string, change: Partial<Parameters<typeof buildAgentRow>[0]> = {}) =>
  fillAs('agents', buildAgentRow({ key, ...change }))
const LEAD = buildAgent('coordinator', { agentKind: 'main', state: 'idle' })

function createTeam(agents: readonly AgentRow[], more: Partial<Team> = {}): Team {
  const none = { edges: [], tasks: [], handoffs: [], notifications: [], reviews: [], messages: [], runs: [] }
  const team = buildTeam(fillAs('team', buildTeamRow()), { agents: [LEAD, ...agents], ...none, ...more })
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
  const team = createTeam(states.map((state, order) => buildAgent(state, { state, order })))
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
  const orphan = buildAgent('worker-1', { parentAgentId: 'gone' })
  const edges = [buildEdgeRow('child', 'gone', 'worker-1'), buildEdgeRow('path', 'coordinator', 'worker-1')]
  const team = createTeam([orphan], { edges: edges.map((row) => fillAs('edges', row)) })
  expect(buildLines(team).map((line) => line.edge.key)).toEqual(['path:coordinator>worker-1'])
  expect(findOrphans(team)).toEqual([orphan])
})

test('a request of a child names the child and its parent; a single agent is not named (UI-10)', () => {
  const team = createTeam([buildAgent('worker-1', { parentAgentId: 'coordinator' })])
  const action = fillAs('actions', buildActionRow({ agentId: 'worker-1' }))
  expect(findAsker(team, action)).toEqual({ name: 'worker-1', parent: 'coordinator' })
  expect(findAsker(null, action)).toBeNull()
})

test('a team of one is no team (UI-18)', () => {
  const { row, ...rows } = createTeam([])
  expect(buildTeam({ ...row, topology: 'solo_run' }, rows)).toBeNull()
  expect(buildTeam(null, rows)).toBeNull()
})
