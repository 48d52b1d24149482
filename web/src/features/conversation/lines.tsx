import { memo } from 'react'
import { duration } from '@/system/format/numbers'
import type { Translate } from '@/system/i18n/translate'
import type { ActionPart, ErrorPart, NoticePart, SteerPart, TurnRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Icon, type IconName } from '@/ui/icon'
import { useFullText, useT } from '../shared/surface'

const ACTION_ICONS: Record<ActionPart['outcome'], IconName> = {
  pending: 'shield',
  approved: 'check',
  rejected: 'close',
  answered: 'check',
  expired: 'clock',
  withdrawn: 'close',
  unknown: 'shield',
}

/** The audit line of an action. While it is pending the card is elsewhere, so this only says that it was asked. */
export const ActionLine = memo(({ part }: { part: ActionPart }) => {
  const t = useT()
  const tool = part.tool || t('status.a_tool')
  return (
    <p className="flex min-h-7 flex-wrap items-center gap-x-2 text-ink-soft">
      <Icon
        name={ACTION_ICONS[part.outcome]}
        size={14}
        className={part.outcome === 'pending' ? 'text-warn' : 'text-ink-faint'}
      />
      <span>{t(`action.line.${part.outcome}`, { tool })}</span>
      {part.answeredScope && part.outcome === 'approved' && (
        <span className="text-ink-faint">{t(`action.scope.${part.answeredScope}`)}</span>
      )}
      {part.actor && (
        <span className="text-ink-faint">{t('action.line.by', { actor: named(t, part.actor) })}</span>
      )}
      {part.reason && <span className="wrap-any text-ink-faint">{part.reason}</span>}
    </p>
  )
})

/** An actor is a kind, or a kind and a name. */
function named(t: Translate, actor: string): string {
  const [kind = '', ...name] = actor.split(':')
  return name.length > 0 && kind === 'agent' ? name.join(':') : (t.maybe(`actor.${kind}`) ?? actor)
}

function noticeText(t: Translate, part: NoticePart): string {
  const { code, message } = part
  if (code.startsWith('paused_')) return message || (t.maybe(code.replace('_', '.')) ?? t('notice.paused'))
  return t.maybe(`notice.${code}`, { message }) ?? (message || (t.maybe(`code.${code}`) ?? code))
}

export const NoticeLine = memo(({ part }: { part: NoticePart }) => {
  const t = useT()
  return (
    <div className="flex min-h-7 items-start gap-2 py-1 text-ink-soft">
      <Icon name="warning" size={14} className="mt-[3px] text-ink-faint" />
      <div className="min-w-0">
        <p className="wrap-any">
          {noticeText(t, part)}
          {part.retryInMs !== null && (
            <span className="text-ink-faint">
              {' '}
              {t('notice.retry_in', { time: duration(part.retryInMs, t.locale) })}
            </span>
          )}
        </p>
        {part.hint && <p className="wrap-any text-sm text-ink-faint">{part.hint}</p>}
      </div>
    </div>
  )
})

/** An error that did not end its turn, or not by itself. */
export const ErrorLine = memo(({ part }: { part: ErrorPart }) => {
  const t = useT()
  return (
    <div className="flex min-h-7 items-start gap-2 py-1">
      <Icon name="warning" size={14} className="mt-[3px] text-bad" />
      <div className="min-w-0">
        <p className="wrap-any text-bad">{t.maybe(`code.${part.code}`) ?? part.code}</p>
        {part.message && <p className="wrap-any text-ink-soft">{part.message}</p>}
        {part.hint && <p className="wrap-any text-ink-soft">{part.hint}</p>}
      </div>
    </div>
  )
})

const STEER_KEYS = {
  pending: 'steer.pending',
  accepted: 'steer.accepted',
  rejected: 'steer.rejected',
} as const

/** Input that was given to a running turn. A rejected one keeps its text and offers a way on. */
export const SteerLine = memo(
  (props: {
    readonly part: SteerPart
    readonly onSendAsTurn: (text: string) => void
    readonly onReuse: (text: string) => void
  }) => {
    const t = useT()
    const { part } = props
    const full = useFullText(part.content)
    const rejected = part.outcome === 'rejected'
    const why = rejected ? (t.maybe(`steer.rejected.${part.reason}`) ?? part.reason) : ''
    return (
      <div className={`rounded-lg border px-3.5 py-2 ${rejected ? 'border-warn/50' : 'border-line'}`}>
        <p className="flex items-center gap-2 text-sm font-medium text-ink-soft">
          <Icon
            name="steer"
            size={14}
            className={part.outcome === 'pending' ? 'animate-breathe text-accent' : ''}
          />
          {t(STEER_KEYS[part.outcome])}
        </p>
        <p className="wrap-any whitespace-pre-wrap">{full.text}</p>
        {rejected && (
          <div className="flex flex-wrap items-center gap-2 pt-1.5">
            <span className="text-sm text-ink-faint">{why}</span>
            <Button look="outline" onClick={() => props.onSendAsTurn(full.text)}>
              {t('steer.send_as_turn')}
            </Button>
            <Button onClick={() => props.onReuse(full.text)}>{t('turn.ask_again')}</Button>
          </div>
        )}
      </div>
    )
  },
)

/** How a turn ended that did not complete, and what can be done about it. */
export const OutcomeLine = memo(
  (props: {
    readonly turn: TurnRow
    readonly error: ErrorPart | null
    readonly onReuse: (text: string) => void
  }) => {
    const t = useT()
    const { turn, error } = props
    const input = useFullText(turn.input)
    const failed = turn.state === 'failed'
    const code = error?.code || turn.code
    const title = failed
      ? (t.maybe(`code.${code}`) ?? t('outcome.failed'))
      : (t.maybe(`outcome.interrupted.${code}`) ?? t('outcome.interrupted'))
    const message = error?.message || turn.message
    const hint = error?.hint || turn.hint
    const look = failed ? 'border-bad/40 bg-bad-soft' : 'border-line'
    return (
      <div className={`flex items-start gap-2.5 rounded-lg border px-3.5 py-2.5 ${look}`}>
        <Icon
          name={failed ? 'warning' : 'stop'}
          className={`mt-0.5 ${failed ? 'text-bad' : 'text-ink-faint'}`}
        />
        <div className="min-w-0 flex-1">
          <p className={`font-semibold ${failed ? 'text-bad' : ''}`}>{title}</p>
          {message && <p className="wrap-any whitespace-pre-wrap text-ink-soft">{message}</p>}
          {hint && <p className="wrap-any text-ink-soft">{hint}</p>}
          {error?.retryable && <p className="text-ink-soft">{t('outcome.retryable')}</p>}
        </div>
        <Button look="outline" onClick={() => props.onReuse(input.text)}>
          {t('turn.ask_again')}
        </Button>
      </div>
    )
  },
)
