/** The team beside the conversation: its views, and the transcript of an agent that is not the lead. */
import { type Dispatch, type SetStateAction, useCallback, useEffect, useMemo } from 'react'
import { useT } from '@/features/shared/surface'
import { InputForm } from '@/features/team/agent-dialogs'
import { AgentHead } from '@/features/team/agent-head'
import type { TeamHandlers } from '@/features/team/handlers'
import type { View } from '@/features/team/team-bar'
import type { Team } from '@/system/rows/team'
import type { Session } from '@/system/workbench/session'
import type { Panel } from './use-layout'
import type { useSessionRows } from './use-session-rows'
import { useTeamHandlers } from './use-team'

/** Opening an agent puts its transcript on the screen; opening the lead goes back to the conversation. */
export function useOpening(
  session: Session,
  team: Team | null,
  panel: Panel,
  setShown: Dispatch<SetStateAction<string | null>>,
  setLook: Dispatch<SetStateAction<View>>,
  setRun: Dispatch<SetStateAction<string>>,
) {
  const lead = team?.row.lead ?? ''
  const hides = !panel.fits
  const hide = panel.hide
  const openAgent = useCallback(
    (agentId: string) => {
      setShown(agentId === lead ? null : agentId)
      setLook('conversation')
      if (hides) hide()
    },
    [lead, hides, hide, setShown, setLook],
  )
  const openRun = useCallback(
    (runId: string) => {
      setRun(runId)
      setLook('runs')
      if (hides) hide()
    },
    [hides, hide, setRun, setLook],
  )
  const open = useMemo(() => ({ agent: openAgent, run: openRun }), [openAgent, openRun])
  return { openAgent, handlers: useTeamHandlers(session, open) }
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
