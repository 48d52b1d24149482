import dagre from '@dagrejs/dagre'
import type { Line, Team } from '@/system/selectors/team'

export const NODE = { width: 184, height: 50 } as const

export interface Spot {
  readonly x: number
  readonly y: number
}

/**
 * Place every agent: children below their parents, agents with only an edge beside each other.
 * Temporary lines, such as waits, do not affect the layout.
 */
export function layOutAgents(team: Team, lines: readonly Line[]): ReadonlyMap<string, Spot> {
  const graph = new dagre.graphlib.Graph({ multigraph: false })
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 64, marginx: 12, marginy: 12 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const agent of team.agents) graph.setNode(agent.agentId, { ...NODE })
  const filterLines = (kind: string) => lines.filter((line) => line.edge.edgeType === kind)
  for (const { source, target } of filterLines('child')) graph.setEdge(source.agentId, target.agentId)
  for (const { source, target } of [...filterLines('path'), ...filterLines('handoff')]) {
    const joined =
      graph.hasEdge(source.agentId, target.agentId) || graph.hasEdge(target.agentId, source.agentId)
    if (!joined && source !== target) graph.setEdge(source.agentId, target.agentId)
  }
  dagre.layout(graph)
  return wrapRows(
    new Map(team.agents.map((agent) => [agent.agentId, computeCorner(graph.node(agent.agentId))])),
  )
}

function computeCorner(centre: { readonly x: number; readonly y: number }): Spot {
  return { x: centre.x - NODE.width / 2, y: centre.y - NODE.height / 2 }
}

/**
 * Maximum number of siblings per row. More are laid out as a block, so that names stay readable.
 */
const MAX_ROW = 4
const GAP = { x: 28, y: 26 } as const

function wrapRows(spots: ReadonlyMap<string, Spot>): ReadonlyMap<string, Spot> {
  const rows = new Map<number, string[]>()
  for (const [id, spot] of spots) rows.set(spot.y, [...(rows.get(spot.y) ?? []), id])
  const widest = Math.max(0, ...[...rows.values()].map((row) => row.length))
  if (widest <= MAX_ROW) return spots
  const columns = Math.max(MAX_ROW, Math.ceil(Math.sqrt(widest / 2)))
  const placed = new Map<string, Spot>()
  let y = 0
  for (const [, row] of [...rows].sort(([a], [b]) => a - b)) {
    for (let first = 0; first < row.length; first += columns) {
      const broken = row.slice(first, first + columns)
      const offset = ((columns - broken.length) * (NODE.width + GAP.x)) / 2
      for (const [index, id] of broken.entries())
        placed.set(id, { x: offset + index * (NODE.width + GAP.x), y })
      y += NODE.height + GAP.y
    }
    y += GAP.y * 1.5
  }
  return placed
}
