import { formatCount } from '@/system/format/numbers'
import type { SessionState } from '@/system/generated/contracts'
import type { StatusRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Dot, type Tone } from '@/ui/marks'
import { describeActivity, formatModel, isOffline } from '../shared/code-texts'
import { Elapsed } from '../shared/elapsed'
import { useT } from '../shared/surface'
import { SESSION_TONES } from '../shared/tones'

export interface StatusLineProps {
  readonly status: StatusRow | null
  /** The state of the whole session: other agents may be working although the lead is done. */
  readonly session?: SessionState | null
  /** Start of the running turn's clock in microseconds; 0 if no turn is running. */
  readonly runningSince: number
  readonly onInterrupt: () => void
}

/** The status of a thread, from its newest fact. */
export function StatusLine({ status, session = null, runningSince, onInterrupt }: StatusLineProps) {
  const t = useT()
  if (status === null) return <p className="text-ink-faint">{t('status.unknown')}</p>
  const tool = status.tool || t('status.a_tool')
  const uses = status.detail === 'running_tool' || status.detail === 'calling_tool'
  const doing = uses ? describeActivity(t, status.tool) : null
  const running = runningSince > 0
  const sessionState = findUrgentState(session, status, running)
  const text = sessionState
    ? t(`session.state.${sessionState}`)
    : (doing ?? t(`status.${status.detail}`, { tool }))
  const lost = status.detail === 'lost'
  const model = formatModel(t, status.provider, status.model)
  return (
    <section
      aria-label={t('status.label')}
      className="flex min-w-0 flex-1 items-center gap-2 text-sm max-sm:max-w-[72%] max-sm:flex-none"
    >
      <Dot
        tone={sessionState ? SESSION_TONES[sessionState] : chooseTone(status)}
        active={sessionState === 'running' || (running && status.status !== 'blocked' && !lost)}
      />
      <span
        role="status"
        className={`truncate font-medium ${isWarning(status, sessionState) ? 'text-warn' : ''}`}
      >
        {text}
      </span>
      {running && !lost && (
        <span className="whitespace-nowrap text-ink-faint max-sm:hidden">
          <Elapsed since={runningSince} />
        </span>
      )}
      <span className="flex min-w-0 flex-1 items-center justify-end gap-3 text-ink-faint max-md:hidden">
        {running && status.iteration > 0 && (
          <span className="tabular whitespace-nowrap">
            {status.maxIters > 0
              ? t('status.iteration', { iteration: status.iteration, max: status.maxIters })
              : t('status.iteration_open', { iteration: status.iteration })}
          </span>
        )}
        <TokenCounts status={status} />
        {(status.iteration > 0 || model !== '') && (
          <span className="truncate" title={model}>
            {isOffline(status.provider, status.model) ? model : status.model || t('status.model_unknown')}
          </span>
        )}
      </span>
      {running && (
        <Button
          look="outline"
          icon="stop"
          disabled={status.detail === 'stopping'}
          onClick={onInterrupt}
          className="max-md:ml-auto"
        >
          <span className="max-sm:sr-only">
            {t(status.detail === 'stopping' ? 'status.interrupting' : 'status.interrupt')}
          </span>
        </Button>
      )}
    </section>
  )
}

/** The session's state if another agent makes it more urgent than the lead's; null otherwise. */
function findUrgentState(
  session: SessionState | null,
  status: StatusRow,
  running: boolean,
): SessionState | null {
  if (session === null || (status.status === 'blocked' && status.paused === null)) return null
  if (session === 'waiting') return session
  return running || session === 'idle' || session === 'interrupted' ? null : session
}

function isWarning(status: StatusRow, sessionState: SessionState | null): boolean {
  return sessionState === null
    ? status.status === 'blocked'
    : sessionState === 'waiting' || sessionState === 'paused'
}

/** Token counts. Counts that the provider did not report read "unknown", not zero. */
function TokenCounts({ status }: { status: StatusRow }) {
  const t = useT()
  if (status.inputTokens === null && status.outputTokens === null) return null
  const formatTokens = (tokens: number | null) =>
    tokens === null ? t('status.unknown_tokens') : formatCount(tokens, t.locale)
  const figures = { input: formatTokens(status.inputTokens), output: formatTokens(status.outputTokens) }
  return (
    <span role="img" aria-label={t('status.tokens_label', figures)} className="tabular whitespace-nowrap">
      {t('status.tokens', figures)}
    </span>
  )
}

function chooseTone(status: StatusRow): Tone {
  if (status.detail === 'lost' || status.detail === 'interrupted') return 'warn'
  switch (status.status) {
    case 'blocked':
    case 'retrying':
      return 'warn'
    case 'failed':
      return 'bad'
    case 'done':
      return 'good'
    case 'idle':
      return 'quiet'
    default:
      return 'accent'
  }
}
