import { memo } from 'react'
import { formatDuration } from '@/system/format/numbers'
import type { Translate } from '@/system/i18n/translate'
import type { ActionPart, ErrorPart, NoticePart, TurnRow } from '@/system/rows/model'
import { isQuestion } from '@/system/selectors/activity'
import { Button } from '@/ui/button'
import { Icon, type IconName } from '@/ui/icon'
import { useNow } from '@/ui/use-now'
import { describeHint } from '../shared/code-texts'
import { RuntimeMessage } from '../shared/refusal'
import { useFullText, useReadOnly, useT } from '../shared/surface'

const ACTION_ICONS: Record<ActionPart['outcome'], IconName> = {
  pending: 'shield',
  approved: 'check',
  rejected: 'close',
  answered: 'check',
  expired: 'clock',
  withdrawn: 'close',
  unknown: 'shield',
}

/** Shorter waits for an answer are not shown. */
const MIN_WAIT_MS = 1000

/** The audit line of an action. While it is pending, its card is in the dock. */
export const ActionLine = memo((props: { part: ActionPart; unattended?: boolean }) => {
  const t = useT()
  const { part, unattended = false } = props
  const tool = part.tool || t('status.a_tool')
  const isByPerson = part.actor.split(':')[0] === 'person' && !unattended
  const byYou = isByPerson ? t.find(`action.line.${part.outcome}_by_you`) : null
  const question = isQuestion(part) ? t(`action.question.${part.outcome}`) : null
  const waited = part.settledAt === 0 ? 0 : (part.settledAt - part.at) / 1000
  return (
    <p className="flex min-h-7 flex-wrap items-center gap-x-2 text-ink-soft">
      <Icon
        name={ACTION_ICONS[part.outcome]}
        size={14}
        className={part.outcome === 'pending' ? 'text-warn' : 'text-ink-faint'}
      />
      <span>{question ?? byYou ?? t(`action.line.${part.outcome}`, { tool })}</span>
      {question === null && byYou !== null && <span className="text-ink-faint">{tool}</span>}
      {part.answeredScope && part.outcome === 'approved' && (
        <span className="text-ink-faint">{t(`action.scope.${part.answeredScope}`)}</span>
      )}
      {part.permissionMode && (
        <span className="text-ink-faint">{t(`composer.permission.${part.permissionMode}`)}</span>
      )}
      {part.actor && !unattended && byYou === null && question === null && (
        <span className="text-ink-faint">{t('action.line.by', { actor: nameActor(t, part.actor) })}</span>
      )}
      {waited >= MIN_WAIT_MS && (
        <span className="tabular text-ink-faint">
          {t('action.line.waited', { time: formatDuration(waited, t.locale) })}
        </span>
      )}
      {part.answer.text && <q className="wrap-any text-ink">{part.answer.text}</q>}
      {part.reason && <q className="wrap-any">{part.reason}</q>}
    </p>
  )
})

/** The name of an actor: a kind, or a kind and a name. */
function nameActor(t: Translate, actor: string): string {
  const [kind = '', ...rest] = actor.split(':')
  const name = rest.join(':')
  if (name !== '' && kind === 'agent') return name
  if (name !== '' && kind === 'policy') return t('action.line.by_policy', { name })
  return t.find(`actor.${kind}`) ?? actor
}

function describeNotice(t: Translate, part: NoticePart): string {
  const { code, message } = part
  if (code.startsWith('paused_')) return t.find(code.replace('_', '.')) ?? (message || t('notice.paused'))
  return t.find(`notice.${code}`, { message }) ?? t.find(`code.${code}`) ?? (message || code)
}

export const NoticeLine = memo(({ part, live = false }: { part: NoticePart; live?: boolean }) => {
  const t = useT()
  // No hint while Callboard retries.
  const hint = part.retryInMs === null ? describeHint(t, part.code, part.hint) : ''
  return (
    <div className="flex min-h-7 items-start gap-2 py-1 text-ink-soft">
      <Icon name="warning" size={14} className="mt-[3px] text-ink-faint" />
      <div className="min-w-0">
        <p className="wrap-any">
          {describeNotice(t, part)}
          {part.retryInMs !== null && (
            <span className="text-ink-faint">
              {' · '}
              <Retry at={part.at} wait={part.retryInMs} attempt={part.attempt} live={live} />
            </span>
          )}
        </p>
        {hint && <p className="wrap-any text-sm text-ink-faint">{hint}</p>}
      </div>
    </div>
  )
})

/** The countdown to the next retry while the turn is running; later, the length of the wait. */
function Retry(props: {
  readonly at: number
  readonly wait: number
  readonly attempt: number
  readonly live: boolean
}) {
  const t = useT()
  const now = useNow(1000, props.live)
  const remaining = props.at / 1000 + props.wait - now
  const waits = props.live && remaining > 0
  const time = formatDuration(
    waits ? Math.min(Math.ceil(remaining / 1000) * 1000, props.wait) : props.wait,
    t.locale,
  )
  return t(waits ? 'notice.retry_in' : 'notice.retried', { time, attempt: props.attempt })
}

/** An error that did not end its turn. */
export const ErrorLine = memo(({ part }: { part: ErrorPart }) => {
  const t = useT()
  const hint = describeHint(t, part.code, part.hint)
  return (
    <div className="flex min-h-7 items-start gap-2 py-1">
      <Icon name="warning" size={14} className="mt-[3px] text-bad" />
      <div className="min-w-0">
        <p className="wrap-any text-bad">{t.find(`code.${part.code}`) ?? part.code}</p>
        <RuntimeMessage code={part.code} message={part.message} />
        {hint && <p className="wrap-any text-ink-soft">{hint}</p>}
      </div>
    </div>
  )
})

/** The outcome of an uncompleted turn, and what to do next. */
export const OutcomeLine = memo(
  (props: {
    readonly turn: TurnRow
    readonly error: ErrorPart | null
    readonly onReuse: (text: string) => void
  }) => {
    const t = useT()
    const { turn, error } = props
    const forReading = useReadOnly()
    const input = useFullText(turn.input)
    const failed = turn.state === 'failed'
    const code = error?.code || turn.code
    const title = failed
      ? (t.find(`code.${code}`) ?? t('outcome.failed'))
      : (t.find(`outcome.interrupted.${code}`) ?? t('outcome.interrupted'))
    const text = error?.message || turn.message
    const explained = failed ? t.find(`explain.${code}`, { calls: turn.iterations }) : null
    const message = explained === null && (failed || turn.code === 'person') ? text : ''
    const hint = describeHint(t, code, error?.hint || turn.hint)
    const look = failed ? 'border-bad/40 bg-bad-soft' : 'border-line'
    return (
      <div className={`flex items-start gap-2.5 rounded-lg border px-3.5 py-2.5 max-sm:flex-wrap ${look}`}>
        <Icon
          name={failed ? 'warning' : 'stop'}
          className={`mt-0.5 ${failed ? 'text-bad' : 'text-ink-faint'}`}
        />
        <div className="min-w-0 flex-1 max-sm:basis-[80%]">
          <p className={`font-semibold ${failed ? 'text-bad' : ''}`}>{title}</p>
          {explained && <p className="wrap-any whitespace-pre-wrap text-ink-soft">{explained}</p>}
          <RuntimeMessage code={code} message={message} />
          {hint && <p className="wrap-any text-ink-soft">{hint}</p>}
          {error?.retryable && hint === '' && <p className="text-ink-soft">{t('outcome.retryable')}</p>}
        </div>
        {!forReading && (
          <Button look="outline" onClick={() => props.onReuse(input.text)} className="max-sm:ml-6.5">
            {t('turn.reuse')}
          </Button>
        )}
      </div>
    )
  },
)
