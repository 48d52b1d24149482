import type { AgentRow } from '@/system/rows/model'
import { listFailedJobs, listItemKeys } from '@/system/selectors/job'
import {
  canResume,
  countAtWork,
  countWaiting,
  findAgentName,
  listUrgentAgents,
  type Team,
} from '@/system/selectors/team'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { describeDegradation, describeQueueReason, describeState } from '../shared/agent-marks'
import { useT } from '../shared/surface'

export const VIEWS = ['conversation', 'graph', 'board', 'lanes', 'runs'] as const
export type View = (typeof VIEWS)[number]

export interface TeamBarProps {
  readonly team: Team
  readonly view: View
  readonly onView: (view: View) => void
  readonly onOpenAgent: (agentId: string) => void
  /** Resume a paused agent. The open agent has its own control beside the composer. */
  readonly onResume: (agent: AgentRow) => void
  readonly openAgentId: string
  /** Show the job of this task. */
  readonly onOpenJob: (taskId: string) => void
}

/** The views of a team, the number of working agents, and the agents that need attention. */
export function TeamBar(props: TeamBarProps) {
  const { team, view, onView, onOpenAgent, onOpenJob } = props
  const t = useT()
  const waiting = countWaiting(team)
  const { row } = team
  // A job reports failed items itself, once no item is open.
  const items = listItemKeys(team.tasks)
  const urgent = listUrgentAgents(
    team.agents.filter((agent) => agent.state !== 'failed' || !items.has(agent.taskId)),
  )
  const failed = listFailedJobs(team.tasks)
  const visibleAgents = urgent.slice(0, 2)
  const isRequested = team.agents.some((agent) => agent.blockedOn !== '')
  // Agents that need an answer are already named.
  const needsInput = urgent.some((agent) => agent.state === 'needs_input')
  const degraded = row.degraded.filter((degradation) => degradation !== 'permission_blocked' || !needsInput)
  return (
    <div className="shrink-0 border-b border-line">
      <div className="flex items-center gap-3 pr-3 pl-4 max-sm:pl-2">
        <nav aria-label={t('team.views')} className="-mb-px flex min-w-0 gap-3.5 overflow-x-auto">
          {VIEWS.map((option) => (
            <button
              key={option}
              type="button"
              aria-current={option === view ? 'page' : undefined}
              onClick={() => onView(option)}
              className="flex h-8 items-center gap-1.5 border-b-2 border-transparent -outline-offset-2 font-medium whitespace-nowrap text-ink-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
            >
              {t(`team.view.${option}`)}
              {option === 'lanes' && waiting > 0 && (
                <span className="tabular rounded bg-warn-soft px-1 text-xs text-warn">
                  {waiting}
                  <span className="sr-only"> {t('team.waiting')}</span>
                </span>
              )}
            </button>
          ))}
        </nav>
        <p className="ml-auto flex min-w-0 items-center gap-3 text-sm text-ink-faint max-sm:hidden">
          {row.queueReason !== null && row.teamQueuedCount > 0 && (
            <span
              className="truncate"
              title={describeQueueReason(t, row.queueReason, {
                active: row.teamActiveCount,
                budget: row.teamParallelBudget,
              })}
            >
              {t.count('team.queued_agents', row.teamQueuedCount)}
            </span>
          )}
          <span className="tabular whitespace-nowrap">
            {t('team.running_agents', { working: countAtWork(team.agents), all: team.agents.length })}
          </span>
          <span className="truncate max-lg:hidden">{t(`team.topology.${row.topology}`)}</span>
        </p>
      </div>
      {(urgent.length > 0 || failed.length > 0 || row.degraded.length > 0 || row.owner !== row.lead) && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-0.5 px-4 py-1 text-sm">
          {visibleAgents.map((agent) => (
            <span key={agent.key} className="flex min-w-0 items-center gap-1">
              <button
                type="button"
                onClick={() => onOpenAgent(agent.agentId)}
                className={`flex min-w-0 items-center gap-1.5 rounded font-medium hover:underline ${agent.state === 'failed' ? 'text-bad' : 'text-warn'}`}
              >
                <Icon name="warning" size={12} />
                <span className="truncate">
                  {t('team.agent_state', { agent: agent.name, state: describeState(t, agent) })}
                </span>
              </button>
              {canResume(agent) && agent.agentId !== props.openAgentId && (
                <Button icon="play" onClick={() => props.onResume(agent)}>
                  {t('team.resume_named', { agent: agent.name })}
                </Button>
              )}
            </span>
          ))}
          {urgent.length > visibleAgents.length && (
            <span className="text-warn">{t.count('team.more', urgent.length - visibleAgents.length)}</span>
          )}
          {failed.map((job) => (
            <button
              key={job.key}
              type="button"
              onClick={() => onOpenJob(job.key)}
              className="flex min-w-0 items-center gap-1.5 rounded font-medium text-bad hover:underline"
            >
              <Icon name="warning" size={12} />
              <span className="truncate">{t('team.job_failed', { job: job.title })}</span>
            </button>
          ))}
          {row.owner !== row.lead && row.owner !== '' && (
            <span className="text-ink-soft">
              {t('team.owned_by', { agent: findAgentName(team.agents, row.owner) })}
            </span>
          )}
          {degraded.map((degradation) => (
            <span key={degradation} className="text-warn">
              {describeDegradation(t, degradation, isRequested)}
            </span>
          ))}
          {row.retryableOverload && <span className="text-warn">{t('team.overload')}</span>}
        </div>
      )}
    </div>
  )
}
