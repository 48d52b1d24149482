/** The views of a team, and the transcripts of agents other than the lead. */
import { type Dispatch, type SetStateAction, useCallback, useEffect, useMemo, useState } from 'react'
import { InputForm } from '@/features/agent/agent-dialogs'
import { AgentHead } from '@/features/agent/agent-head'
import { useT } from '@/features/shared/surface'
import type { TeamHandlers } from '@/features/shared/team-handlers'
import type { View } from '@/features/team/team-bar'
import type { Session } from '@/system/workbench/session'
import { useNewJob } from '../job/use-new-job'
import type { Panel } from '../layout/use-layout'
import type { useSessionRows } from '../rows/use-session-rows'
import { useTeamHandlers } from './use-team-handlers'
import { useTeamViewState } from './use-team-view'

/**
 * The view state and handlers of a team. Opening an agent shows its transcript; opening the lead
 * shows the conversation.
 */
export function useTeamArea(
  session: Session,
  { team, allTurns }: ReturnType<typeof useSessionRows>,
  panel: Panel,
  setOpenAgentId: Dispatch<SetStateAction<string | null>>,
) {
  const [{ view: openView, job }, setTeamView] = useTeamViewState(session.id, team, allTurns)
  const [run, setRun] = useState('')
  const [jobAsked, setJobAsked] = useState(false)
  const lead = team?.row.lead ?? ''
  const hides = !panel.fits
  const hide = panel.hide
  const goTo = useCallback(
    (view: View, task?: string) => {
      setTeamView((before) => ({ view, job: task ?? before?.job ?? '' }))
      if (hides) hide()
    },
    [setTeamView, hides, hide],
  )
  const openAgent = useCallback(
    (agentId: string) => {
      setOpenAgentId(agentId === lead ? null : agentId)
      goTo('conversation')
    },
    [lead, setOpenAgentId, goTo],
  )
  const openRun = useCallback(
    (runId: string) => {
      setRun(runId)
      goTo('runs')
    },
    [goTo],
  )
  const openJob = useCallback(
    (taskId: string) => {
      setJobAsked(true)
      goTo('board', taskId)
    },
    [goTo],
  )
  // Show the board, where the new job's card appears.
  const { ask: openNewJob, dialog } = useNewJob(
    session,
    useCallback(() => openJob(''), [openJob]),
  )
  const open = useMemo(
    () => ({ agent: openAgent, run: openRun, job: openJob, openNewJob: openNewJob }),
    [openAgent, openRun, openJob, openNewJob],
  )
  /** Selecting the current view again closes its job. */
  const onView = (view: View) => setTeamView({ view, job: view === openView ? '' : job })
  return {
    look: openView,
    onLook: onView,
    run,
    job,
    jobAsked,
    openAgent,
    newJob: openNewJob,
    dialog,
    handlers: useTeamHandlers(session, open),
  }
}

/** Opens the details for a team by default, if they fit. */
export function useOpenForTeam(panel: Panel, team: boolean): void {
  const { setByDefault } = panel
  useEffect(() => {
    setByDefault(team)
    return () => setByDefault(false)
  }, [setByDefault, team])
}

interface OfAgentProps {
  readonly view: ReturnType<typeof useSessionRows>
}

export function TranscriptHead({ view, onBack }: OfAgentProps & { readonly onBack: () => void }) {
  const { team, agent } = view
  if (team === null || agent === null) return null
  return <AgentHead agent={agent} team={team} onBack={onBack} />
}

/** The message form of an agent other than the lead. */
export function AgentInput({ view, handlers }: OfAgentProps & { readonly handlers: TeamHandlers }) {
  const t = useT()
  const { agent } = view
  if (agent === null) return null
  if (agent.state === 'closed') {
    return <p className="py-2 text-ink-faint">{t('team.closed_hint', { agent: agent.name })}</p>
  }
  return (
    <InputForm
      key={agent.agentId}
      label={t('team.input_title', { agent: agent.name })}
      onSend={(text) => handlers.onInput(agent, text)}
    />
  )
}
