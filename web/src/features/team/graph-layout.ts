import dagre from '@dagrejs/dagre'
import type { Line, Team } from '@/system/rows/team'

export const NODE = { width: 184, height: 50 } as const

export interface Spot {
  readonly x: number
  readonly y: number
}

/**
 * A place for every agent: children stand under their parents, and who only may reach another beside it. Lines that come
 * and go, such as waits, move nobody.
 */
export function layOut(team: Team, lines: readonly Line[]): ReadonlyMap<string, Spot> {
  const graph = new dagre.graphlib.Graph({ multigraph: false })
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 64, marginx: 12, marginy: 12 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const agent of team.agents) graph.setNode(agent.agentId, { ...NODE })
  const shaping = (kind: string) => lines.filter((line) => line.edge.edgeType === kind)
  for (const { source, target } of shaping('child')) graph.setEdge(source.agentId, target.agentId)
  for (const { source, target } of [...shaping('path'), ...shaping('handoff')]) {
    const joined =
      graph.hasEdge(source.agentId, target.agentId) || graph.hasEdge(target.agentId, source.agentId)
    if (!joined && source !== target) graph.setEdge(source.agentId, target.agentId)
  }
  dagre.layout(graph)
  return wrapped(new Map(team.agents.map((agent) => [agent.agentId, corner(graph.node(agent.agentId))])))
}

function corner(centre: { readonly x: number; readonly y: number }): Spot {
  return { x: centre.x - NODE.width / 2, y: centre.y - NODE.height / 2 }
}

/** A row that would be wider than this many agents is broken, so that forty children stay readable. */
const ROW = 8
const GAP = { x: 28, y: 26 } as const

function wrapped(spots: ReadonlyMap<string, Spot>): ReadonlyMap<string, Spot> {
  const rows = new Map<number, string[]>()
  for (const [id, spot] of spots) rows.set(spot.y, [...(rows.get(spot.y) ?? []), id])
  if (![...rows.values()].some((row) => row.length > ROW)) return spots
  const placed = new Map<string, Spot>()
  let y = 0
  for (const [, row] of [...rows].sort(([a], [b]) => a - b)) {
    const ordered = row.toSorted((a, b) => (spots.get(a)?.x ?? 0) - (spots.get(b)?.x ?? 0))
    for (let first = 0; first < ordered.length; first += ROW) {
      const broken = ordered.slice(first, first + ROW)
      const left = ((ROW - broken.length) * (NODE.width + GAP.x)) / 2
      for (const [index, id] of broken.entries())
        placed.set(id, { x: left + index * (NODE.width + GAP.x), y })
      y += NODE.height + GAP.y
    }
    y += GAP.y * 1.5
  }
  return placed
}
