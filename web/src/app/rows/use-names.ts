import { useMemo } from 'react'
import type { Names } from '@/features/shared/surface'
import type { StatusRow } from '@/system/rows/model'
import { findAgentName, type Team } from '@/system/selectors/team'
import type { useSessionRows } from './use-session-rows'

/** Display names of a session. Rows of the conversation re-render only if a name changes. */
export function useSessionNames({ team, threads }: ReturnType<typeof useSessionRows>): Names {
  const agents = team?.agents ?? NO_AGENTS
  const tasks = team?.tasks ?? NO_TASKS
  // A single agent has no row; its thread has its name.
  const soloNames = agents.length > 0 ? '' : serializeNames(threads)
  return useMemo(
    () => ({
      nameAgent: (id) =>
        soloNames === '' ? findAgentName(agents, id) : (parseNames(soloNames).get(id) ?? id),
      nameTask: (id) => tasks.find((task) => task.key === id)?.title ?? id,
    }),
    [agents, tasks, soloNames],
  )
}

const NO_AGENTS: Team['agents'] = []
const NO_TASKS: Team['tasks'] = []

/** Names by id as one string, which is stable while they are equal. */
function serializeNames(threads: readonly StatusRow[]): string {
  return JSON.stringify(threads.map(({ agentId, agentName }) => [agentId, agentName]))
}

function parseNames(all: string): ReadonlyMap<string, string> {
  return new Map(JSON.parse(all) as [string, string][])
}
