import { formatDuration, formatTimeOfDay } from '@/system/format/numbers'
import type { TaskRow } from '@/system/rows/model'
import { findAgentName, type Team } from '@/system/selectors/team'
import { Dot } from '@/ui/marks'
import { describeOutcome } from '../shared/code-texts'
import { RunLink } from '../shared/run-link'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { RUN_TONES } from '../shared/tones'

/** The attempts of a task, the newest first: agent, outcome and a link to the run. */
export function AttemptList({
  task,
  team,
  handlers,
}: {
  readonly task: TaskRow
  readonly team: Team
  readonly handlers: TeamHandlers
}) {
  const t = useT()
  if (task.attempts.length === 0) return null
  return (
    <div>
      <h4 className="font-medium text-ink-soft">{t('team.attempts_list')}</h4>
      <ul aria-label={t('team.attempts_list')}>
        {task.attempts.toReversed().map((attempt, index) => {
          const number = attempt.number || task.attempts.length - index
          return (
            <li key={`${number} ${attempt.runId}`} className="flex flex-wrap items-center gap-x-1.5">
              <Dot tone={RUN_TONES[attempt.status]} active={attempt.status === 'running'} />
              <span className="tabular">{t('team.attempt', { number })}</span>
              <span>{t(`team.run.${attempt.status}`)}</span>
              {attempt.agentId && (
                <span className="text-ink-soft">{findAgentName(team.agents, attempt.agentId)}</span>
              )}
              {attempt.started > 0 && attempt.ended > 0 && (
                <span className="tabular text-ink-faint">
                  {formatDuration((attempt.ended - attempt.started) / 1000, t.locale)}
                </span>
              )}
              {attempt.runId && (
                <RunLink
                  label={t('team.open_attempt', { number })}
                  text={attempt.started > 0 ? formatTimeOfDay(attempt.started, t.locale) : t('team.open_run')}
                  onOpen={() => handlers.onOpenRun(attempt.runId)}
                />
              )}
              {attempt.detail && (
                <span className="wrap-any text-ink-faint">{describeOutcome(t, attempt.detail)}</span>
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
