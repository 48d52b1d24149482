import { plainTerminalText } from '@/system/format/ansi'
import { fieldsSoFar } from '@/system/format/partial-fields'
import type { ToolPart } from '@/system/rows/model'
import { useT } from '../shared/surface'

/** A plan while an agent writes it: what it achieves, and its steps so far. */
export function PlanInMaking({ part }: { part: ToolPart }) {
  const t = useT()
  const fields = fieldsSoFar(part.arguments.text)
  const summary = plainTerminalText(fields.text('summary'))
  const steps = fields.texts('steps')
  return (
    <div className="space-y-1 pt-0.5 pb-2 pl-[22px]">
      {summary !== '' && <p className="wrap-any text-ink-soft">{summary}</p>}
      {steps.length > 0 && (
        <ol aria-label={t('plan.title')} className="list-decimal space-y-0.5 pl-7">
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a plan may say the same twice; its steps are told apart by their place
            <li key={index} className="wrap-any">
              {plainTerminalText(step)}
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}
