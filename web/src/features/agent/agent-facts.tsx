import { formatClockTime } from '@/system/format/numbers'
import type { AgentRow } from '@/system/rows/model'
import { findAgent, findAgentName, type Team } from '@/system/selectors/team'
import { Fact, Facts } from '@/ui/facts'
import { formatModel } from '../shared/code-texts'
import { LongText } from '../shared/load-more'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { BackgroundAgentFacts } from './background-agent'
import { RemoteAgentFacts } from './remote-agent'

/** The record of an agent. A missing fact reads "unknown". */
export function AgentFacts(props: {
  readonly agent: AgentRow
  readonly team: Team
  readonly handlers: TeamHandlers
  readonly onEnd: () => void
}) {
  const { agent, team, handlers } = props
  const t = useT()
  const parent = agent.parentAgentId
  const hasParentRow = parent === '' || findAgent(team.agents, parent) !== null
  const child = agent.agentKind === 'subagent'
  const [sent, received] = [
    team.handoffs.filter((handoff) => handoff.source === agent.agentId).length,
    team.handoffs.filter((handoff) => handoff.target === agent.agentId).length,
  ]
  return (
    <div className="space-y-2 pt-1 pr-2 pb-2 pl-6 text-sm">
      {agent.background !== null && (
        <BackgroundAgentFacts
          agent={agent}
          background={agent.background}
          team={team}
          handlers={handlers}
          onEnd={props.onEnd}
        />
      )}
      {agent.remote !== null && (
        <RemoteAgentFacts agent={agent} remote={agent.remote} onRetry={() => handlers.onRetryAgent(agent)} />
      )}
      {agent.objective.text !== '' && <LongText text={agent.objective} />}
      <Facts>
        {child && (
          <Fact name={t('team.fact.parent')}>
            {hasParentRow
              ? findAgentName(team.agents, parent) || t('app.unknown')
              : t('team.degraded.lineage_unavailable')}
          </Fact>
        )}
        {agent.spawnReason && <Fact name={t('team.fact.reason')}>{agent.spawnReason}</Fact>}
        <Fact name={t('team.fact.definition')}>{agent.definition || t('app.unknown')}</Fact>
        <LimitFacts agent={agent} />
        {sent + received > 0 && (
          <Fact name={t('team.view.handoffs')}>{t('team.fact.handoffs', { sent, received })}</Fact>
        )}
        {agent.lastActivity > 0 && (
          <Fact name={t('team.fact.activity')}>{formatClockTime(agent.lastActivity, t.locale)}</Fact>
        )}
        <Fact name={t('team.fact.thread')}>
          <span className="font-mono">{agent.threadId}</span>
        </Fact>
        {agent.providerMode && <Fact name={t('team.fact.provider_mode')}>{agent.providerMode}</Fact>}
        {agent.providerModel && <Fact name={t('team.fact.provider_model')}>{agent.providerModel}</Fact>}
        {agent.providerSessionId && (
          <Fact name={t('team.fact.provider_session')}>
            <span className="font-mono">{agent.providerSessionId}</span>
          </Fact>
        )}
      </Facts>
      {agent.result.text !== '' && (
        <div>
          <h3 className="font-medium text-ink-soft">{t('team.fact.result')}</h3>
          {agent.plainText && <p className="text-sm text-ink-faint">{t('team.plain_text')}</p>}
          <LongText text={agent.result} />
        </div>
      )}
    </div>
  )
}

/** Model, tools and limits of an agent. Unknown for a remote agent. */
function LimitFacts({ agent }: { agent: AgentRow }) {
  const t = useT()
  const model = formatModel(t, agent.provider, agent.model)
  const isLocal = agent.remote === null
  const mode = agent.permissionMode
  return (
    <>
      {isLocal && <Fact name={t('details.model')}>{model || t('app.unknown')}</Fact>}
      <Fact name={t('details.connection')}>{t(`team.connection.${agent.connection}`)}</Fact>
      {isLocal && (
        <Fact name={t('details.permission')}>
          {t.find(`composer.permission.${mode}`) ?? (mode || t('app.unknown'))}
        </Fact>
      )}
      <Fact name={t('check.policy')}>
        {agent.policy.map((may) => t(`team.policy.${may}`)).join(', ') || t('app.none')}
      </Fact>
      {isLocal && <Fact name={t('team.fact.isolation')}>{t(`team.isolation.${agent.isolation}`)}</Fact>}
      {agent.workGlobs.length > 0 && (
        <Fact name={t('team.fact.globs')}>
          <span className="font-mono">{agent.workGlobs.join(' ')}</span>
        </Fact>
      )}
      {agent.branch && <Fact name={t('team.fact.branch')}>{agent.branch}</Fact>}
      {agent.worktree && <Fact name={t('team.fact.worktree')}>{agent.worktree}</Fact>}
    </>
  )
}
