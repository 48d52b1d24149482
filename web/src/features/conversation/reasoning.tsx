import { memo } from 'react'
import type { ReasoningPart } from '@/system/rows/model'
import { Icon } from '@/ui/icon'
import { LoadMore } from '../shared/load-more'
import { useOpened } from '../shared/opened-rows'
import { useFullText, useT } from '../shared/surface'

/** Reasoning: open while it is streaming, one line when completed. */
export const Reasoning = memo(({ part }: { part: ReasoningPart }) => {
  const t = useT()
  const running = part.state === 'streaming'
  const [opened, setOpened] = useOpened(part.key)
  const open = running || opened
  const full = useFullText(part.content)
  const title = {
    streaming: 'reasoning.running',
    final: 'reasoning.done',
    interrupted: 'reasoning.interrupted',
  } as const
  return (
    <div aria-busy={running}>
      <button
        type="button"
        aria-expanded={open}
        disabled={running}
        onClick={() => setOpened(!opened)}
        className="flex min-h-7 w-full items-center gap-2 rounded text-left text-ink-soft hover:text-ink disabled:hover:text-ink-soft"
      >
        <Icon
          name="thought"
          size={14}
          className={running ? 'animate-breathe text-accent' : 'text-ink-faint'}
        />
        <span className="font-medium">{t(title[part.state])}</span>
        {!open && <span className="min-w-0 flex-1 truncate text-ink-faint">{getFirstLine(full.text)}</span>}
        {!running && (
          <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} className="text-ink-faint" />
        )}
      </button>
      {open && (
        <div className="wrap-any ml-[7px] border-l border-line py-0.5 pl-[14px] whitespace-pre-wrap text-ink-soft">
          {full.text}
          <LoadMore full={full} />
        </div>
      )}
    </div>
  )
})

/** The first line of the text, which the layout truncates. */
function getFirstLine(text: string): string {
  const line = text.trimStart().split('\n', 1)[0] ?? ''
  return line.slice(0, 200)
}
