/** Which view of a session is on the screen. It stands beside the address: a reload stays there, a step back comes to it. */
import { useEffect, useState } from 'react'
import { VIEWS, type View } from '@/features/team/team-bar'
import { readRoute } from '@/system/local/route'
import type { TurnRow } from '@/system/rows/model'
import { isJob } from '@/system/selectors/job'
import { findAgent, type Team } from '@/system/selectors/team'

export interface Look {
  readonly view: View
  /** The task whose job is shown in the board's place; empty for the board. */
  readonly job: string
}

const CONVERSATION: Look = { view: 'conversation', job: '' }

/** The view of this session, and what goes to another one. */
export function useLook(sessionId: string, team: Team | null, turns: readonly TurnRow[]) {
  const [chosen, setChosen] = useState<Look | null>(lookBeside)
  if (chosen === null && team !== null && isBegunByJob(team, turns)) setChosen(lookAtJobs(team))
  useEffect(() => {
    const isHere = readRoute(window.location.hash).sessionId === sessionId
    if (chosen !== null && isHere) window.history.replaceState(chosen, '')
  }, [sessionId, chosen])
  return [chosen ?? CONVERSATION, setChosen] as const
}

/** Whether there is nothing to read of its lead, and a job instead. */
function isBegunByJob({ row, agents, tasks }: Team, turns: readonly TurnRow[]): boolean {
  const lead = findAgent(agents, row.lead)
  if (lead === null || lead.latestTurn !== '' || !tasks.some(isJob)) return false
  return !turns.some((turn) => turn.threadId === lead.threadId)
}

function lookAtJobs({ tasks }: Team): Look {
  const jobs = tasks.filter(isJob)
  return { view: 'board', job: jobs.length === 1 ? (jobs[0]?.key ?? '') : '' }
}

function lookBeside(): Look | null {
  const { view, job }: Partial<Look> = window.history.state ?? {}
  const supported = VIEWS.find((name) => name === view)
  return supported === undefined ? null : { view: supported, job: typeof job === 'string' ? job : '' }
}
