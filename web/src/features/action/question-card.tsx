import { type KeyboardEvent, lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react'
import { markInvisible } from '@/system/format/exact-text'
import { Fields } from '@/system/format/fields'
import { buildForm, type Field } from '@/system/format/schema'
import type { Decision } from '@/system/generated/contracts'
import type { ActionRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Disclosure } from '@/ui/disclosure'
import { useT, useWholeText } from '../shared/surface'
import { ActionContent } from './action-content'
import { ActionHead, type ActionHeadProps } from './action-head'
import { type CardAnswer, DecisionButtons, selectQuestionTexts } from './decision-buttons'

const AnswerForm = lazy(() => import('./answer-form'))

/** Tools that ask a question. The card shows their arguments as text. */
const QUESTION_TOOLS: ReadonlySet<string> = new Set(['ask_person', 'propose_plan'])

export interface QuestionCardProps extends ActionHeadProps {
  readonly action: ActionRow
  readonly index: number
  readonly count: number
  /** The answer that was sent and has no fact yet. */
  readonly answered: Decision | null
  readonly takesFocus: boolean
  /** The draft of the answer. The host stores it until the fact of the answer arrives. */
  readonly draft: string
  readonly onDraft: (text: string) => void
  readonly onAnswer: (answer: CardAnswer) => void
  readonly onNext: () => void
}

/** A question of an agent. It stays until the fact of its answer arrives. */
export function QuestionCard(props: QuestionCardProps) {
  const t = useT()
  const { action, answered, draft, takesFocus } = props
  const [empty, setEmpty] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const problem = useId()
  useEffect(() => {
    if (takesFocus) field.current?.focus({ preventScroll: true })
  }, [takesFocus])
  const question = Fields.parse(useWholeText(action.arguments).text)
  const fields = buildFormFields(action, question)
  const words = selectQuestionTexts(action)
  const isOffered = (decision: Decision) => action.decisions.includes(decision)
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
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the shortcut to the pending action focuses this
      tabIndex={0}
      id="pending-action"
      aria-label={t('action.region')}
      onFocus={(event) => {
        if (event.target === event.currentTarget) field.current?.focus()
      }}
      className="group flex max-h-[62vh] flex-col gap-2.5 rounded-lg border border-warn/60 bg-surface px-3.5 py-3 shadow-sm"
    >
      <ActionHead
        {...props}
        icon="question"
        title={t(`action.title.${action.actionType}`, { tool: action.tool })}
      />
      <div className="min-h-0 space-y-2.5 overflow-y-auto">
        {action.prompt !== '' && (
          <p className="wrap-any whitespace-pre-wrap">{markInvisible(action.prompt)}</p>
        )}
        {QUESTION_TOOLS.has(action.tool) ? (
          <Steps steps={question.listTexts('steps')} />
        ) : (
          <Details action={action} />
        )}
        {action.actionType === 'credential_request' && (
          <p className="text-ink-soft">{t('action.credential_hint')}</p>
        )}
      </div>
      {answered !== null ? (
        <Sent>
          <p role="status" className="text-ink-soft">
            {t(`action.sent.${answered}`)}
          </p>
          {answered === 'answer' && draft !== '' && fields.length === 0 && (
            <q className="wrap-any text-ink-faint">{draft.trim()}</q>
          )}
        </Sent>
      ) : fields.length > 0 ? (
        <Suspense fallback={null}>
          <AnswerForm
            fields={fields}
            draft={draft}
            onDraft={props.onDraft}
            mayReject={isOffered('reject')}
            onAnswer={props.onAnswer}
          />
        </Suspense>
      ) : (
        <>
          {isOffered('answer') && (
            <Options options={question.listTexts('options')} chosen={draft} onChoose={props.onDraft} />
          )}
          {isOffered('answer') && (
            <textarea
              ref={field}
              aria-label={t(words.label)}
              aria-invalid={empty}
              aria-describedby={empty ? problem : undefined}
              aria-keyshortcuts="Control+Enter Meta+Enter"
              placeholder={t(words.label)}
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
              {t(words.empty)}
            </p>
          )}
          <DecisionButtons
            action={action}
            words={words}
            draft={draft}
            onAnswer={props.onAnswer}
            onText={answer}
          />
        </>
      )}
    </section>
  )
}

/**
 * The fields of a requested form; empty if a form cannot show the schema, and the answer is plain
 * text.
 */
function buildFormFields({ decisions }: ActionRow, question: Fields): readonly Field[] {
  const { fields, unsupported } = buildForm(question.getValue('schema'))
  return decisions.includes('answer') && unsupported.length === 0 ? fields : []
}

function Sent({ children }: { children: ReactNode }) {
  return <div className="space-y-1">{children}</div>
}

function Steps({ steps }: { steps: readonly string[] }) {
  const t = useT()
  if (steps.length === 0) return null
  return (
    <ol aria-label={t('plan.title')} className="list-decimal space-y-0.5 pl-7">
      {steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps may repeat, and keep their order
        <li key={index} className="wrap-any">
          {markInvisible(step)}
        </li>
      ))}
    </ol>
  )
}

/** Suggested answers. A chosen one is put into the text field, where it can be edited. */
function Options(props: {
  readonly options: readonly string[]
  readonly chosen: string
  readonly onChoose: (option: string) => void
}) {
  const t = useT()
  if (props.options.length === 0) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset contains fields, not buttons
    <div role="group" aria-label={t('action.options')} className="flex flex-wrap gap-1.5">
      {props.options.map((option) => (
        <Button
          key={option}
          look="outline"
          aria-pressed={option === props.chosen}
          onClick={() => props.onChoose(option)}
          className="h-auto min-h-7 max-w-full py-0.5 text-left whitespace-normal aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent"
        >
          {markInvisible(option)}
        </Button>
      ))}
    </div>
  )
}

/** Additional data of a question from an external agent. */
function Details({ action }: { action: ActionRow }) {
  const t = useT()
  if (action.preview === null && action.arguments.text === '') return null
  return (
    <Disclosure title={t('action.details')}>
      <ActionContent action={action} />
    </Disclosure>
  )
}
