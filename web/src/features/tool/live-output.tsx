import { plainTerminalText } from '@/system/format/ansi'
import { readPartialFields } from '@/system/format/partial-fields'
import type { ToolPart } from '@/system/rows/model'
import { CodeBlock } from '@/ui/code-block'
import { useT } from '../shared/surface'

/** How much of what is being written stays on the screen, in characters from the end. */
const TAIL = 4000

/** What a call that runs has printed so far, or the input that is being written for it. */
export function LiveOutput({ part }: { part: ToolPart }) {
  const t = useT()
  const writing = part.state === 'input-streaming'
  if (!writing && part.state !== 'running' && part.state !== 'progress') return null
  const text = writing ? part.arguments.text : part.output.text
  if (text === '') return null
  if (writing && part.tool === 'propose_plan') return <PlanInMaking part={part} />
  const cut = text.length > TAIL
  const shown = plainTerminalText(cut ? text.slice(-TAIL) : text)
  return (
    <div className="pt-0.5 pb-2 pl-[22px]">
      <CodeBlock follow text={shown} label={t(writing ? 'tool.input' : 'tool.output')} />
      {cut && <p className="pt-1 text-sm text-ink-faint">{t('tool.earlier_hidden')}</p>}
    </div>
  )
}

/** A plan while an agent writes it: what it achieves, and its steps so far. */
export function PlanInMaking({ part }: { part: ToolPart }) {
  const t = useT()
  const fields = readPartialFields(part.arguments.text)
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
