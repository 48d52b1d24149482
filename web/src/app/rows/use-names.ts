import { useMemo } from 'react'
import type { Names } from '@/features/shared/surface'
import type { StatusRow } from '@/system/rows/model'
import { agentName, type Team } from '@/system/selectors/team'
import type { useSessionRows } from './use-session-rows'

/** What the facts of a session name by an id. Rows of the conversation are drawn anew only where a name is another. */
export function useSessionNames({ team, threads }: ReturnType<typeof useSessionRows>): Names {
  const agents = team?.agents ?? NO_AGENTS
  const tasks = team?.tasks ?? NO_TASKS
  // Alone, an agent has no card: its thread says what it is called.
  const soloNames = agents.length > 0 ? '' : serializeNames(threads)
  return useMemo(
    () => ({
      agent: (id) => (soloNames === '' ? agentName(agents, id) : (parseNames(soloNames).get(id) ?? id)),
      task: (id) => tasks.find((task) => task.key === id)?.title ?? id,
    }),
    [agents, tasks, soloNames],
  )
}

const NO_AGENTS: Team['agents'] = []
const NO_TASKS: Team['tasks'] = []

/** Names by id in one text, which is the same as long as they are. */
function serializeNames(threads: readonly StatusRow[]): string {
  return JSON.stringify(threads.map(({ agentId, agentName }) => [agentId, agentName]))
}

function parseNames(all: string): ReadonlyMap<string, string> {
  return new Map(JSON.parse(all) as [string, string][])
}
