import type { Decision, PermissionMode } from '@/system/generated/contracts'
import type { ActionRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { useT } from '../shared/surface'

export interface CardAnswer {
  readonly decision: Decision
  readonly text: string
  /** The mode for executing the plan; absent if the action offers none. */
  readonly mode?: PermissionMode
}

/** Choose the texts for a plan, a question or a credential request. */
export function selectQuestionTexts({ actionType }: ActionRow) {
  const plan = actionType === 'plan_decision' || actionType === 'teammate_plan_decision'
  if (plan) {
    return {
      plan,
      label: 'action.changes_label',
      empty: 'action.changes_empty',
      answer: 'action.changes',
      approve: 'action.accept_plan',
      reject: 'action.reject',
    } as const
  }
  const credential = actionType === 'credential_request'
  return {
    plan,
    label: 'action.answer_label',
    empty: 'action.answer_empty',
    answer: 'action.answer',
    approve: credential ? 'action.authorised' : 'action.approve',
    reject: credential ? 'action.reject' : 'action.decline',
  } as const
}

/** Buttons for the decisions of a question, the most likely one at the edge. */
export function DecisionButtons(props: {
  readonly action: ActionRow
  readonly words: ReturnType<typeof selectQuestionTexts>
  readonly draft: string
  readonly onAnswer: (answer: CardAnswer) => void
  /** Sends the text, or shows that it is missing. */
  readonly onText: () => void
}) {
  const t = useT()
  const { action, words } = props
  const isOffered = (decision: Decision) => action.decisions.includes(decision)
  // Text typed with a decision on a plan is its reason, which the agent reads.
  const reason = words.plan ? props.draft.trim() : ''
  const approve = (mode?: PermissionMode) =>
    props.onAnswer({ decision: 'approve', text: reason, ...(mode === undefined ? {} : { mode }) })
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      {isOffered('reject') && (
        <Button look="danger" onClick={() => props.onAnswer({ decision: 'reject', text: reason })}>
          {t(words.reject)}
        </Button>
      )}
      {isOffered('answer') && words.plan && <TextButton {...props} />}
      {isOffered('approve') && action.modes.length === 0 && (
        <Button
          look={words.plan ? 'solid' : 'outline'}
          onClick={() => approve()}
          className={words.plan ? '' : 'border-accent text-accent'}
        >
          {t(words.approve)}
        </Button>
      )}
      {isOffered('approve') && <ModeButtons modes={action.modes} onChoose={approve} />}
      {isOffered('answer') && !words.plan && <TextButton {...props} />}
    </div>
  )
}

function TextButton({
  words,
  onText,
}: {
  readonly words: ReturnType<typeof selectQuestionTexts>
  readonly onText: () => void
}) {
  const t = useT()
  return (
    <Button look={words.plan ? 'outline' : 'solid'} onClick={onText}>
      {t(words.answer)}
      <span className="text-xs font-normal opacity-80 max-sm:hidden">{t('action.answer_keys')}</span>
    </Button>
  )
}

/**
 * Buttons for the modes that can execute the plan. The default, the action's first, is at the edge.
 */
function ModeButtons(props: {
  readonly modes: readonly PermissionMode[]
  readonly onChoose: (mode: PermissionMode) => void
}) {
  const t = useT()
  return props.modes.toReversed().map((mode) => (
    <Button
      key={mode}
      look={mode === props.modes[0] ? 'solid' : 'outline'}
      title={t(`composer.permission.${mode}_hint`)}
      onClick={() => props.onChoose(mode)}
      className={mode === props.modes[0] ? '' : 'border-accent text-accent'}
    >
      {t(`action.accept_plan.${mode}`)}
    </Button>
  ))
}
