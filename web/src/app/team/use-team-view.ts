/** The view of a session. It is kept in the history state, so reload and back button restore it. */
import { useEffect, useState } from 'react'
import { VIEWS, type View } from '@/features/team/team-bar'
import { readRoute } from '@/system/local/route'
import type { TurnRow } from '@/system/rows/model'
import { isJob } from '@/system/selectors/job'
import { findAgent, type Team } from '@/system/selectors/team'

export interface TeamViewState {
  readonly view: View
  /** The task of the job shown instead of the board; empty for the board. */
  readonly job: string
}

const CONVERSATION: TeamViewState = { view: 'conversation', job: '' }

/** The view of a session, and its setter. */
export function useTeamViewState(sessionId: string, team: Team | null, turns: readonly TurnRow[]) {
  const [chosen, setChosen] = useState<TeamViewState | null>(readStoredView)
  if (chosen === null && team !== null && hasStartedWithJob(team, turns)) setChosen(buildJobView(team))
  useEffect(() => {
    const isOpen = readRoute(window.location.hash).sessionId === sessionId
    if (chosen !== null && isOpen) window.history.replaceState(chosen, '')
  }, [sessionId, chosen])
  return [chosen ?? CONVERSATION, setChosen] as const
}

/** Whether a session started with a job, and its lead has no turn. */
function hasStartedWithJob({ row, agents, tasks }: Team, turns: readonly TurnRow[]): boolean {
  const lead = findAgent(agents, row.lead)
  if (lead === null || lead.latestTurn !== '' || !tasks.some(isJob)) return false
  return !turns.some((turn) => turn.threadId === lead.threadId)
}

function buildJobView({ tasks }: Team): TeamViewState {
  const jobs = tasks.filter(isJob)
  return { view: 'board', job: jobs.length === 1 ? (jobs[0]?.key ?? '') : '' }
}

function readStoredView(): TeamViewState | null {
  const { view, job }: Partial<TeamViewState> = window.history.state ?? {}
  const supported = VIEWS.find((name) => name === view)
  return supported === undefined ? null : { view: supported, job: typeof job === 'string' ? job : '' }
}
