import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { visibleText } from '@/system/format/ansi'
import type { Decision } from '@/system/generated/contracts'
import type { ActionRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { useT } from '../shared/surface'
import { ActionContent } from './action-content'
import { CardHead } from './card-head'

const QUESTIONS: ReadonlySet<ActionRow['actionType']> = new Set([
  'clarification',
  'structured_input',
  'credential_request',
])

/** Whether an action is a question to a person, and not a call that waits for a yes. */
export function isQuestion(action: ActionRow): boolean {
  return QUESTIONS.has(action.actionType) || action.decisions.includes('answer')
}

export interface QuestionCardProps {
  readonly action: ActionRow
  readonly agentName: string
  readonly parentName?: string
  readonly index: number
  readonly count: number
  /** What was answered and is in no fact yet. */
  readonly answered: Decision | null
  readonly takesFocus: boolean
  /** What was typed so far; the host keeps it until the fact of the answer is there. */
  readonly draft: string
  readonly onDraft: (text: string) => void
  readonly onAnswer: (answer: { readonly decision: Decision; readonly text: string }) => void
  readonly onNext: () => void
}

/** A question of an agent. It goes when the fact of its answer comes, and not before. */
export function QuestionCard(props: QuestionCardProps) {
  const t = useT()
  const { action, answered, draft, takesFocus } = props
  const [empty, setEmpty] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const problem = useId()
  useEffect(() => {
    if (takesFocus) field.current?.focus({ preventScroll: true })
  }, [takesFocus])
  const offers = (decision: Decision) => action.decisions.includes(decision)
  const answer = () => {
    setEmpty(draft.trim() === '')
    if (draft.trim() !== '' && answered === null) props.onAnswer({ decision: 'answer', text: draft.trim() })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return
    event.preventDefault()
    answer()
  }
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the shortcut to what waits leads here
      tabIndex={0}
      id="pending-action"
      aria-label={t('action.region')}
      onFocus={(event) => {
        if (event.target === event.currentTarget) field.current?.focus()
      }}
      className="group flex max-h-[62vh] flex-col gap-2.5 rounded-lg border border-warn/60 bg-surface px-3.5 py-3 shadow-sm"
    >
      <CardHead
        {...props}
        icon="question"
        title={t(`action.title.${action.actionType}`, { tool: action.tool })}
      />
      <div className="min-h-0 space-y-2.5 overflow-y-auto">
        {action.prompt !== '' && <p className="wrap-any whitespace-pre-wrap">{visibleText(action.prompt)}</p>}
        <ActionContent action={action} />
        {action.actionType === 'credential_request' && (
          <p className="text-ink-soft">{t('action.credential_hint')}</p>
        )}
      </div>
      {answered !== null ? (
        <Sent>
          <p role="status" className="text-ink-soft">
            {t(`action.sent.${answered}`)}
          </p>
          {answered === 'answer' && draft !== '' && <q className="wrap-any text-ink-faint">{draft.trim()}</q>}
        </Sent>
      ) : (
        <>
          {offers('answer') && (
            <textarea
              ref={field}
              aria-label={t('action.answer_label')}
              aria-invalid={empty}
              aria-describedby={empty ? problem : undefined}
              aria-keyshortcuts="Control+Enter Meta+Enter"
              placeholder={t('action.answer_label')}
              value={draft}
              rows={2}
              maxLength={20_000}
              onChange={(event) => {
                setEmpty(false)
                props.onDraft(event.target.value)
              }}
              onKeyDown={onKeyDown}
              className="field-sizing-content max-h-48 min-h-14 w-full resize-none rounded-md border border-line-strong bg-paper px-2.5 py-1.5"
            />
          )}
          {empty && (
            <p id={problem} role="alert" className="text-bad">
              {t('action.answer_empty')}
            </p>
          )}
          <div className="flex flex-wrap items-center justify-end gap-2">
            {offers('reject') && (
              <Button look="danger" onClick={() => props.onAnswer({ decision: 'reject', text: '' })}>
                {t(action.actionType === 'credential_request' ? 'action.reject' : 'action.decline')}
              </Button>
            )}
            {offers('approve') && (
              <Button
                look="outline"
                onClick={() => props.onAnswer({ decision: 'approve', text: '' })}
                className="border-accent text-accent"
              >
                {t(action.actionType === 'credential_request' ? 'action.authorised' : 'action.approve')}
              </Button>
            )}
            {offers('answer') && (
              <Button look="solid" onClick={answer}>
                {t('action.answer')}
                <span className="text-xs font-normal opacity-80 max-sm:hidden">
                  {t('action.answer_keys')}
                </span>
              </Button>
            )}
          </div>
        </>
      )}
    </section>
  )
}

function Sent({ children }: { children: ReactNode }) {
  return <div className="space-y-1">{children}</div>
}
