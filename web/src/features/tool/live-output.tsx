import { plainTerminalText } from '@/system/format/ansi'
import type { ToolPart } from '@/system/rows/model'
import { CodeBlock } from '@/ui/code-block'
import { useT } from '../shared/surface'
import { PlanInMaking } from './partial-plan'

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
