import type { AgentRow } from '@/system/rows/model'
import { findAgent, findAgentName, type Team } from '@/system/selectors/team'
import { Button } from '@/ui/button'
import { StateDot, StateText } from '../shared/agent-marks'
import { useT } from '../shared/surface'

/** The head of an agent's transcript, with the way back. */
export function AgentHead(props: {
  readonly agent: AgentRow
  readonly team: Team
  readonly onBack: () => void
}) {
  const t = useT()
  const { agent, team } = props
  const parent = findAgent(team.agents, agent.parentAgentId)?.name
  return (
    <header className="flex min-h-9 shrink-0 flex-wrap items-center gap-x-2 border-b border-line bg-sunken px-4 py-1">
      <StateDot agent={agent} />
      <h3 className="min-w-0 truncate font-semibold">{t('team.transcript_of', { agent: agent.name })}</h3>
      <StateText agent={agent} />
      {parent && <span className="text-sm text-ink-faint">{t('team.works_for', { agent: parent })}</span>}
      <Button look="outline" className="ml-auto" onClick={props.onBack}>
        {t('team.back_to_lead', { agent: findAgentName(team.agents, team.row.lead) || t('team.lead') })}
      </Button>
    </header>
  )
}
