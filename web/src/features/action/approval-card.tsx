import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { markInvisible } from '@/system/format/exact-text'
import type { ApprovalScope, Decision } from '@/system/generated/contracts'
import type { ActionRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Key } from '@/ui/marks'
import { RadioGroup } from '@/ui/radio-group'
import { useT } from '../shared/surface'
import { ActionContent } from './action-content'
import { ActionHead, type ActionHeadProps } from './action-head'
import { ActionReasons, PolicyLine, SandboxLine } from './action-reasons'

export interface Answer {
  readonly decision: Decision
  readonly scope: ApprovalScope
  readonly reason: string
}

export interface ApprovalCardProps extends ActionHeadProps {
  readonly action: ActionRow
  readonly index: number
  readonly count: number
  /** The answer that was sent and has no fact yet. */
  readonly answered: Decision | null
  /** Whether a new card takes the focus, if no other element has it. */
  readonly takesFocus: boolean
  readonly onAnswer: (answer: Answer) => void
  readonly onNext: () => void
}

/** Minimum time on the screen before keys answer a card that took the focus itself. */
const READ_FIRST_MS = 400

/** A request for approval. It stays until the fact of its answer arrives. */
export function ApprovalCard(props: ApprovalCardProps) {
  const t = useT()
  const { action, answered } = props
  const [scope, setScope] = useState<ApprovalScope>('once')
  const [reason, setReason] = useState('')
  const card = useRef<HTMLElement>(null)
  const tookFocusAt = useRef(0)
  const takesFocus = props.takesFocus
  useEffect(() => {
    if (!takesFocus) return
    tookFocusAt.current = Date.now()
    card.current?.focus({ preventScroll: true })
  }, [takesFocus])
  const submit = (decision: Decision) => {
    if (answered === null && action.decisions.includes(decision)) props.onAnswer({ decision, scope, reason })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Ignore a repeated key, and a key that may be meant for the previously focused element.
    if (event.repeat || Date.now() - tookFocusAt.current < READ_FIRST_MS) return
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    if (event.key === 'a' || event.key === 'A') submit('approve')
    else if (event.key === 'r' || event.key === 'R') submit('reject')
    else return
    event.preventDefault()
  }
  const tool = action.tool || t('status.a_tool')
  const scopes = action.scopes.length > 0 ? action.scopes : (['once'] as const)
  const matcher = action.matchers[scope]
  return (
    <section
      ref={card}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the focused card handles keys
      tabIndex={0}
      id="pending-action"
      aria-label={t('action.region')}
      onKeyDown={onKeyDown}
      className="group flex max-h-[62vh] flex-col gap-2.5 rounded-lg border border-warn/60 bg-surface px-3.5 py-3 shadow-sm"
    >
      <ActionHead
        {...props}
        icon="shield"
        risk
        title={t.find(`action.tool.${action.tool}`) ?? t(`action.title.${action.actionType}`, { tool })}
      />
      <div className="min-h-0 space-y-2.5 overflow-y-auto">
        <ActionContent action={action}>
          <ActionReasons action={action} />
          <SandboxLine sandbox={action.sandbox} network={action.network} />
          <PolicyLine policy={action.policy} reasons={action.reasons} />
        </ActionContent>
      </div>
      {answered === null ? (
        <>
          {action.decisions.includes('approve') && (
            <div className="flex flex-wrap items-center gap-2">
              <span className="text-sm text-ink-faint">{t('action.scope')}</span>
              <RadioGroup
                label={t('action.scope')}
                value={scope}
                onChange={setScope}
                choices={scopes.map((value) => ({ value, label: t(`action.scope.${value}`) }))}
              />
              <span className="wrap-any min-w-0 text-sm text-ink-faint">
                {matcher === undefined
                  ? t('action.once_bound')
                  : t('action.matcher', { matcher: markInvisible(matcher) })}
              </span>
            </div>
          )}
          <div className="flex flex-wrap items-center gap-2">
            <input
              aria-label={t('action.reason')}
              placeholder={t('action.reason')}
              value={reason}
              maxLength={2000}
              onChange={(event) => setReason(event.target.value)}
              className="h-7 min-w-40 flex-1 rounded-md border border-line-strong bg-paper px-2 max-sm:basis-full"
            />
            {action.decisions.includes('reject') && (
              <Button
                look="danger"
                aria-keyshortcuts="R"
                onClick={() => submit('reject')}
                className="max-sm:flex-1 max-sm:justify-center"
              >
                {t('action.reject')}
                <Key>R</Key>
              </Button>
            )}
            {action.decisions.includes('approve') && (
              <Button
                look="solid"
                aria-keyshortcuts="A"
                onClick={() => submit('approve')}
                className="max-sm:flex-1 max-sm:justify-center"
              >
                {t('action.approve')}
                <Key>A</Key>
              </Button>
            )}
          </div>
        </>
      ) : (
        <p role="status" className="text-ink-soft">
          {t(`action.sent.${answered}`)}
        </p>
      )}
    </section>
  )
}

function isTyping(target: EventTarget): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.tagName === 'TEXTAREA' || (target instanceof HTMLInputElement && target.type !== 'radio')
}
