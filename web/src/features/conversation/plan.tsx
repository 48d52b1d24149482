import { memo } from 'react'
import type { PlanPart } from '@/system/rows/model'
import { Icon } from '@/ui/icon'
import { useOpened } from '../shared/opened-rows'
import { useT } from '../shared/surface'

type Step = PlanPart['steps'][number]

/** An agent's plan: open while it is in progress, one line when completed. */
export const Plan = memo(({ part }: { part: PlanPart }) => {
  const t = useT()
  const running = part.state === 'streaming'
  const [opened, setOpened] = useOpened(part.key, running)
  const done = part.steps.filter((step) => step.status === 'completed').length
  const now = part.steps.find((step) => step.status === 'in_progress')
  return (
    <div>
      <button
        type="button"
        aria-expanded={opened}
        onClick={() => setOpened(!opened)}
        className="flex min-h-7 w-full items-center gap-2 rounded text-left text-ink-soft hover:text-ink"
      >
        <Icon name="plan" size={14} className={running ? 'text-accent' : 'text-ink-faint'} />
        <span className="font-medium">
          {t(part.state === 'interrupted' ? 'plan.interrupted' : 'plan.title')}
        </span>
        <span className="tabular text-sm text-ink-faint">
          {t('plan.progress', { done, count: part.steps.length })}
        </span>
        <span className="min-w-0 flex-1 truncate text-ink-faint">{!opened && now?.content}</span>
        <Icon name={opened ? 'chevronDown' : 'chevronRight'} size={12} className="text-ink-faint" />
      </button>
      {opened && (
        <ol aria-label={t('plan.title')} className="space-y-0.5 pb-1 pl-[22px]">
          {numberSteps(part.steps).map(({ step, key }) => (
            <li key={key} className="flex items-start gap-2">
              <Mark status={step.status} />
              <span
                className={`wrap-any min-w-0 flex-1 ${step.status === 'completed' ? 'text-ink-faint' : ''} ${step.status === 'in_progress' ? 'font-medium' : ''}`}
              >
                {step.content}
                <span className="sr-only"> {t(`plan.step.${step.status}`)}</span>
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  )
})

/** Number the steps, because a plan may contain equal ones. */
function numberSteps(steps: readonly Step[]): readonly { readonly step: Step; readonly key: string }[] {
  return steps.map((step, index) => ({ step, key: `${index}` }))
}

function Mark({ status }: { status: Step['status'] }) {
  if (status === 'completed') return <Icon name="check" size={14} className="mt-[3px] text-good" />
  const look = status === 'in_progress' ? 'border-accent bg-accent-soft' : 'border-line-strong'
  return <span aria-hidden="true" className={`mt-[5px] mr-0.5 size-3 shrink-0 rounded-full border ${look}`} />
}
