/** The team beside the conversation: its views, and the transcript of an agent that is not the lead. */
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
import { useLook } from './use-view'

/** What is on the screen of a team, and what a person can do with it. Opening an agent puts its transcript there; opening the
 *  lead goes back to the conversation. */
export function useOpening(
  session: Session,
  { team, allTurns }: ReturnType<typeof useSessionRows>,
  panel: Panel,
  setShown: Dispatch<SetStateAction<string | null>>,
) {
  const [{ view: look, job }, setLook] = useLook(session.id, team, allTurns)
  const [run, setRun] = useState('')
  const [asked, setAsked] = useState(false)
  const lead = team?.row.lead ?? ''
  const hides = !panel.fits
  const hide = panel.hide
  const goTo = useCallback(
    (view: View, task?: string) => {
      setLook((before) => ({ view, job: task ?? before?.job ?? '' }))
      if (hides) hide()
    },
    [setLook, hides, hide],
  )
  const openAgent = useCallback(
    (agentId: string) => {
      setShown(agentId === lead ? null : agentId)
      goTo('conversation')
    },
    [lead, setShown, goTo],
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
      setAsked(true)
      goTo('board', taskId)
    },
    [goTo],
  )
  // A job is made on the board: that is where its card comes.
  const { ask: newJob, dialog } = useNewJob(
    session,
    useCallback(() => openJob(''), [openJob]),
  )
  const open = useMemo(
    () => ({ agent: openAgent, run: openRun, job: openJob, newJob }),
    [openAgent, openRun, openJob, newJob],
  )
  /** Asking for the view that is there leads back to all of it. */
  const onLook = (view: View) => setLook({ view, job: view === look ? '' : job })
  return {
    look,
    onLook,
    run,
    job,
    jobAsked: asked,
    openAgent,
    newJob,
    dialog,
    handlers: useTeamHandlers(session, open),
  }
}

/** Where there is room, a team shows who is in it until the person says otherwise. */
export function useOpensForTeam(panel: Panel, team: boolean): void {
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

/** Where a person types to an agent that is not the lead. */
export function ToAgent({ view, handlers }: OfAgentProps & { readonly handlers: TeamHandlers }) {
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
