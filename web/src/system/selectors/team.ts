/** A team and its agents, from the rows of a session. */
import type {
  ActionRow,
  AgentRow,
  EdgeRow,
  HandoffRow,
  MessageRow,
  NotificationRow,
  ReviewRow,
  RunRow,
  TaskRow,
  TeamRow,
} from '../rows/model'

export interface Team {
  readonly row: TeamRow
  readonly agents: readonly AgentRow[]
  readonly edges: readonly EdgeRow[]
  readonly tasks: readonly TaskRow[]
  readonly handoffs: readonly HandoffRow[]
  readonly notifications: readonly NotificationRow[]
  readonly reviews: readonly ReviewRow[]
  readonly messages: readonly MessageRow[]
  readonly runs: readonly RunRow[]
}

/** Build the team from its rows; null if there is only one agent. */
export function buildTeam(row: TeamRow | null, rows: Omit<Team, 'row'>): Team | null {
  return row === null || row.topology === 'solo_run' ? null : { row, ...rows }
}

type State = AgentRow['state']

/** Sort order of agent states. States that need attention come before `running`. */
const RANKS: Readonly<Record<State, number>> = {
  needs_input: 0,
  plan_ready: 1,
  failed: 2,
  lost: 3,
  running: 4,
  spawning: 5,
  waiting: 6,
  unknown: 7,
  idle: 8,
  completed: 9,
  killed: 9,
  closed: 9,
}

export function needsAttention(state: State): boolean {
  return RANKS[state] < RANKS.running
}

/** The agents that need attention, the most urgent first. */
export function listUrgentAgents(agents: readonly AgentRow[]): readonly AgentRow[] {
  const urgent = agents.filter((agent) => needsAttention(agent.state))
  return urgent.toSorted((a, b) => RANKS[a.state] - RANKS[b.state] || a.order - b.order)
}

export function hasEnded(state: State): boolean {
  return RANKS[state] === RANKS.completed
}

export function isAtWork(state: State): boolean {
  return state === 'running' || state === 'spawning' || state === 'needs_input' || state === 'plan_ready'
}

export function countAtWork(agents: readonly AgentRow[]): number {
  return agents.filter((agent) => isAtWork(agent.state) && agent.paused === null).length
}

/** The lead first, then agents by state; agents of equal state in order of creation. */
export function sortRoster(team: Team): readonly AgentRow[] {
  const rank = (agent: AgentRow) => (agent.agentId === team.row.lead ? -1 : RANKS[agent.state])
  return team.agents.toSorted((a, b) => rank(a) - rank(b) || a.order - b.order)
}

/** Find an agent by id or, as in envelopes, by name. */
export function findAgent(agents: readonly AgentRow[], name: string): AgentRow | null {
  if (name === '') return null
  return agents.find((agent) => agent.agentId === name) ?? agents.find((agent) => agent.name === name) ?? null
}

/** The name of an agent, or the id if it has no row. */
export function findAgentName(agents: readonly AgentRow[], id: string): string {
  return findAgent(agents, id)?.name ?? id
}

export function findChildren(agents: readonly AgentRow[], parent: AgentRow): readonly AgentRow[] {
  return agents.filter((agent) => agent.parentAgentId === parent.agentId)
}

/** Whether a handoff is addressed to a person, who has no next turn and must answer it. */
export function isForPerson(handoff: HandoffRow, agents: readonly AgentRow[]): boolean {
  return findAgent(agents, handoff.target)?.agentKind === 'human'
}

/** Whether a handoff waits for an answer. */
export function waitsForAnswer(handoff: HandoffRow, agents: readonly AgentRow[]): boolean {
  if (handoff.state !== 'handoff_requested') return false
  return handoff.confirm || handoff.ownership || isForPerson(handoff, agents)
}

/** Count the entries of the lanes that wait for an answer. */
export function countWaiting(team: Team): number {
  return (
    team.handoffs.filter((handoff) => waitsForAnswer(handoff, team.agents)).length +
    team.reviews.filter((review) => review.state === 'changes_requested').length
  )
}

/** The agent that asks, and the agent it works for. */
export interface Asker {
  readonly name: string
  readonly parent: string
}

export function findAsker(team: Team | null, action: ActionRow): Asker | null {
  const agent = team === null ? null : findAgent(team.agents, action.agentId)
  if (team === null || agent === null) return null
  return { name: agent.name, parent: findAgentName(team.agents, agent.parentAgentId) }
}

export interface Line {
  readonly edge: EdgeRow
  readonly source: AgentRow
  readonly target: AgentRow
}

/** The lines of the graph between two known agents. */
export function buildLines(team: Team): readonly Line[] {
  return team.edges.flatMap((edge) => {
    const source = findAgent(team.agents, edge.source)
    const target = findAgent(team.agents, edge.target)
    return source === null || target === null ? [] : [{ edge, source, target }]
  })
}

/** Children whose parent has no row. */
export function findOrphans(team: Team): readonly AgentRow[] {
  return team.agents.filter(
    (agent) => agent.parentAgentId !== '' && findAgent(team.agents, agent.parentAgentId) === null,
  )
}

/** Whether an agent's thread can be resumed. A sleeping agent is resumed with its task. */
export function canResume({ paused, background }: AgentRow): boolean {
  return paused !== null && background === null
}
