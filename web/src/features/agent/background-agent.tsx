import { formatFutureTime, formatRelative, formatTimeOfDay } from '@/system/format/numbers'
import type { Translate } from '@/system/i18n/translate'
import type { AgentRow, Background } from '@/system/rows/model'
import type { Team } from '@/system/selectors/team'
import { Button } from '@/ui/button'
import { Fact, Facts } from '@/ui/facts'
import { Dot } from '@/ui/marks'
import { useNow } from '@/ui/use-now'
import { RunLink } from '../shared/run-link'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { RUN_TONES } from '../shared/tones'
import { Schedule } from './schedule'

/** The time of the next wake; empty if unknown. */
export function wakeText(t: Translate, background: Background, now: number): string {
  if (background.wakeAt === 0 || !isSleeping(background)) return ''
  const at = background.wakeAt / 1000
  return t('team.background.at', {
    time: formatFutureTime(at, now, t.locale),
    in: formatRelative(at, now, t.locale),
  })
}

function isSleeping({ state }: Background): boolean {
  return state === 'sleeping' || state === 'scheduled' || state === 'failed'
}

/** Whether a background agent can be paused. */
export function canPause({ state }: Background): boolean {
  return state !== 'paused' && !hasFinished(state)
}

export function hasFinished(state: Background['state']): boolean {
  return state === 'completed'
}

export interface BackgroundFactsProps {
  readonly agent: AgentRow
  readonly background: Background
  readonly team: Team
  readonly handlers: TeamHandlers
  readonly onEnd: () => void
}

/** Schedule, last wake and runs of a background agent, and how to stop it. */
export function BackgroundAgentFacts(props: BackgroundFactsProps) {
  const t = useT()
  const now = useNow(10_000)
  const { agent, background, team, handlers } = props
  const findRun = (id: string) => team.runs.find((run) => run.key === id)
  const [current, last] = [findRun(agent.currentRun), findRun(background.lastRun)]
  const status = background.lastRunStatus ?? last?.status ?? null
  const when = wakeText(t, background, now)
  return (
    <section aria-label={t('team.background.of', { agent: agent.name })} className="space-y-1.5">
      <Facts>
        <Fact name={t('team.background.title')}>{t(`team.background.${background.state}`)}</Fact>
        <Fact name={t('team.background.schedule')}>
          <Schedule schedule={background.schedule} />
        </Fact>
        {isSleeping(background) && <Fact name={t('team.background.next')}>{when || t('app.unknown')}</Fact>}
        {background.wakeOn.length > 0 && (
          <Fact name={t('team.background.wakes_on')}>
            <span className="font-mono">{background.wakeOn.join(' ')}</span>
          </Fact>
        )}
        <Fact name={t('team.background.woke')}>
          {background.wakeReason === null ? (
            t('team.background.never')
          ) : (
            <>
              {t(`team.wake.${background.wakeReason}`)}
              {background.wokeAt > 0 && (
                <span className="text-ink-faint">
                  {' '}
                  {formatRelative(background.wokeAt / 1000, now, t.locale)}
                </span>
              )}
            </>
          )}
        </Fact>
        <Fact name={t('team.background.current')}>
          {current === undefined ? (
            t('app.none')
          ) : (
            <RunLink
              label={t('team.open_run_of', { agent: agent.name })}
              text={formatTimeOfDay(current.started, t.locale)}
              onOpen={() => handlers.onOpenRun(current.key)}
            />
          )}
        </Fact>
        <Fact name={t('team.background.last')}>
          {background.lastRun === '' ? (
            t('app.none')
          ) : (
            <span className="flex flex-wrap items-center gap-1.5">
              {status !== null && <Dot tone={RUN_TONES[status]} />}
              {status === null ? t('app.unknown') : t(`team.run.${status}`)}
              <RunLink
                label={t('team.open_last_run_of', { agent: agent.name })}
                text={last === undefined ? t('team.open_run') : formatTimeOfDay(last.started, t.locale)}
                onOpen={() => handlers.onOpenRun(background.lastRun)}
              />
            </span>
          )}
        </Fact>
      </Facts>
      {!hasFinished(background.state) && (
        <div className="flex flex-wrap gap-1.5">
          {isSleeping(background) && (
            <Button look="outline" onClick={() => handlers.onStartTask(background.taskId)}>
              {t('team.wake')}
            </Button>
          )}
          {background.state === 'paused' ? (
            <Button look="outline" icon="play" onClick={() => handlers.onResumeTask(background.taskId)}>
              {t('team.resume_agent')}
            </Button>
          ) : (
            <Button look="outline" icon="pause" onClick={() => handlers.onPauseTask(background.taskId)}>
              {t('team.pause')}
            </Button>
          )}
          <Button look="danger" onClick={props.onEnd}>
            {t('team.end')}
          </Button>
        </div>
      )}
    </section>
  )
}
