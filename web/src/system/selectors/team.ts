/** A team as the surfaces want it, made from its rows. Pure: the same rows give the same team. */
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

/** The team that these rows make; null where one agent works alone: nothing pretends to a team. */
export function teamOf(row: TeamRow | null, rows: Omit<Team, 'row'>): Team | null {
  return row === null || row.topology === 'solo_run' ? null : { row, ...rows }
}

type State = AgentRow['state']

/** What rises above running, the most urgent first; the rest in the order in which a person looks for it. */
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

export function rises(state: State): boolean {
  return RANKS[state] < RANKS.running
}

/** Those of the agents that rise, the most urgent first. */
export function rising(agents: readonly AgentRow[]): readonly AgentRow[] {
  const risen = agents.filter((agent) => rises(agent.state))
  return risen.toSorted((a, b) => RANKS[a.state] - RANKS[b.state] || a.order - b.order)
}

export function isOver(state: State): boolean {
  return RANKS[state] === RANKS.completed
}

export function isAtWork(state: State): boolean {
  return state === 'running' || state === 'spawning' || state === 'needs_input' || state === 'plan_ready'
}

export function atWork(agents: readonly AgentRow[]): number {
  return agents.filter((agent) => isAtWork(agent.state) && agent.paused === null).length
}

/** The lead first, then what needs a person, then what runs; agents of one state stand in the order in which they came. */
export function rosterOrder(team: Team): readonly AgentRow[] {
  const rank = (agent: AgentRow) => (agent.agentId === team.row.lead ? -1 : RANKS[agent.state])
  return team.agents.toSorted((a, b) => rank(a) - rank(b) || a.order - b.order)
}

/** Facts name an agent by its id; an envelope may name it as its edge does. */
export function agentOf(agents: readonly AgentRow[], name: string): AgentRow | null {
  if (name === '') return null
  return agents.find((agent) => agent.agentId === name) ?? agents.find((agent) => agent.name === name) ?? null
}

/** The name of an agent. One that has no row is called what the fact calls it. */
export function nameOf(agents: readonly AgentRow[], id: string): string {
  return agentOf(agents, id)?.name ?? id
}

export function childrenOf(agents: readonly AgentRow[], parent: AgentRow): readonly AgentRow[] {
  return agents.filter((agent) => agent.parentAgentId === parent.agentId)
}

/** A person takes nothing up with a next turn: what is handed to one waits for their word. */
export function isForPerson(handoff: HandoffRow, agents: readonly AgentRow[]): boolean {
  return agentOf(agents, handoff.target)?.agentKind === 'human'
}

/** Handoffs that wait for an answer of a person or an agent. */
export function waitsForAnswer(handoff: HandoffRow, agents: readonly AgentRow[]): boolean {
  if (handoff.state !== 'handoff_requested') return false
  return handoff.confirm || handoff.ownership || isForPerson(handoff, agents)
}

/** How many entries of the lanes want something from somebody. */
export function lanesWaiting(team: Team): number {
  return (
    team.handoffs.filter((handoff) => waitsForAnswer(handoff, team.agents)).length +
    team.reviews.filter((review) => review.state === 'changes_requested').length
  )
}

/** Who asks, and for whom: a child asks on behalf of its parent. */
export interface Asker {
  readonly name: string
  readonly parent: string
}

export function askerOf(team: Team | null, action: ActionRow): Asker | null {
  const agent = team === null ? null : agentOf(team.agents, action.agentId)
  if (team === null || agent === null) return null
  return { name: agent.name, parent: nameOf(team.agents, agent.parentAgentId) }
}

export interface Line {
  readonly edge: EdgeRow
  readonly source: AgentRow
  readonly target: AgentRow
}

/** The lines whose both ends are known. A line with an unknown end is not drawn: nobody guesses where it goes. */
export function linesOf(team: Team): readonly Line[] {
  return team.edges.flatMap((edge) => {
    const source = agentOf(team.agents, edge.source)
    const target = agentOf(team.agents, edge.target)
    return source === null || target === null ? [] : [{ edge, source, target }]
  })
}

/** Children whose parent is on no record here. */
export function withoutParent(team: Team): readonly AgentRow[] {
  return team.agents.filter(
    (agent) => agent.parentAgentId !== '' && agentOf(team.agents, agent.parentAgentId) === null,
  )
}

/** One that sleeps is resumed with its task. */
export function mayResume({ paused, background }: AgentRow): boolean {
  return paused !== null && background === null
}
