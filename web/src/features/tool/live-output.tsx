import { stripTerminalCodes } from '@/system/format/ansi'
import { readPartialFields } from '@/system/format/partial-fields'
import type { ToolPart } from '@/system/rows/model'
import { CodeBlock } from '@/ui/code-block'
import { useT } from '../shared/surface'

/** Number of characters of streaming text that are shown, from the end. */
const TAIL = 4000

/** The output of a running call, or its streaming input. */
export function LiveOutput({ part }: { part: ToolPart }) {
  const t = useT()
  const writing = part.state === 'input-streaming'
  if (!writing && part.state !== 'running' && part.state !== 'progress') return null
  const text = writing ? part.arguments.text : part.output.text
  if (text === '') return null
  if (writing && part.tool === 'propose_plan') return <PartialPlan part={part} />
  const cut = text.length > TAIL
  const visibleText = stripTerminalCodes(cut ? text.slice(-TAIL) : text)
  return (
    <div className="pt-0.5 pb-2 pl-[22px]">
      <CodeBlock follow text={visibleText} label={t(writing ? 'tool.input' : 'tool.output')} />
      {cut && <p className="pt-1 text-sm text-ink-faint">{t('tool.earlier_hidden')}</p>}
    </div>
  )
}

/** A streaming plan: its summary and the steps so far. */
export function PartialPlan({ part }: { part: ToolPart }) {
  const t = useT()
  const fields = readPartialFields(part.arguments.text)
  const summary = stripTerminalCodes(fields.getText('summary'))
  const steps = fields.listTexts('steps')
  return (
    <div className="space-y-1 pt-0.5 pb-2 pl-[22px]">
      {summary !== '' && <p className="wrap-any text-ink-soft">{summary}</p>}
      {steps.length > 0 && (
        <ol aria-label={t('plan.title')} className="list-decimal space-y-0.5 pl-7">
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps may repeat, and keep their order
            <li key={index} className="wrap-any">
              {stripTerminalCodes(step)}
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}
