import { useMemo } from 'react'
import type { Names } from '@/features/shared/surface'
import type { StatusRow } from '@/system/rows/model'
import { nameOf, type Team } from '@/system/selectors/team'
import type { useSessionRows } from './use-session-rows'

/** What the facts of a session name by an id. Rows of the conversation are drawn anew only where a name is another. */
export function useNamesOf({ team, threads }: ReturnType<typeof useSessionRows>): Names {
  const agents = team?.agents ?? NOBODY
  const tasks = team?.tasks ?? NO_TASKS
  // Alone, an agent has no card: its thread says what it is called.
  const alone = agents.length > 0 ? '' : calledAs(threads)
  return useMemo(
    () => ({
      agent: (id) => (alone === '' ? nameOf(agents, id) : (named(alone).get(id) ?? id)),
      task: (id) => tasks.find((task) => task.key === id)?.title ?? id,
    }),
    [agents, tasks, alone],
  )
}

const NOBODY: Team['agents'] = []
const NO_TASKS: Team['tasks'] = []

/** Names by id in one text, which is the same as long as they are. */
function calledAs(threads: readonly StatusRow[]): string {
  return JSON.stringify(threads.map(({ agentId, agentName }) => [agentId, agentName]))
}

function named(all: string): ReadonlyMap<string, string> {
  return new Map(JSON.parse(all) as [string, string][])
}
