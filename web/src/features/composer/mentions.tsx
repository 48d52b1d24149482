/** What a text behind an @ may mean, while it is being typed. */
import { type KeyboardEvent, useCallback, useId, useRef, useState } from 'react'
import { plainTerminalText } from '@/system/format/ansi'
import type { Mention } from '@/system/generated/contracts'
import { Icon, type IconName } from '@/ui/icon'
import { useT } from '../shared/surface'

/** Gives what may be meant, the best first. It never fails: what cannot be asked is nothing. */
export type FindMentions = (text: string) => Promise<readonly Mention[]>

interface Asked {
  /** Where the @ stands in the text. */
  readonly at: number
  readonly found: readonly Mention[]
  readonly chosen: number
}

const ICONS: Readonly<Record<Mention['kind'], IconName>> = {
  file: 'document',
  folder: 'folder',
  artifact: 'layers',
  session: 'clock',
  agent: 'thought',
}

/** The @ that the caret stands behind, with what was typed of it; null where there is none. */
export function mentionAt(
  text: string,
  caret: number,
): { readonly at: number; readonly typed: string } | null {
  const found = /(?:^|[\s([{"'])@([^\s@]{0,200})$/.exec(text.slice(0, caret))
  if (found === null) return null
  const typed = found[1] ?? ''
  return { at: caret - typed.length - 1, typed }
}

export function useMentions(find: FindMentions | undefined, onDraft: (text: string) => void) {
  const list = useId()
  const [asked, setAsked] = useState<Asked | null>(null)
  const turn = useRef(0)
  const close = useCallback(() => {
    turn.current++
    setAsked(null)
  }, [])
  /** Look at what stands before the caret. What comes late for another text is dropped. */
  const look = (field: HTMLTextAreaElement) => {
    const caret = field.selectionStart
    const mention = field.selectionEnd === caret ? mentionAt(field.value, caret) : null
    if (find === undefined || mention === null) return close()
    const mine = ++turn.current
    void find(mention.typed).then((found) => {
      if (turn.current !== mine) return
      setAsked(found.length === 0 ? null : { at: mention.at, found, chosen: 0 })
    })
  }
  const take = (field: HTMLTextAreaElement, mention: Mention) => {
    if (asked === null) return
    // What was suggested may be of a moment ago; what stands at the caret now is what it takes the place of.
    const end = field.selectionStart
    const at = mentionAt(field.value, end)?.at ?? asked.at
    const before = field.value.slice(0, at)
    const after = field.value.slice(end).replace(/^ /, '')
    onDraft(`${before}${mention.insert} ${after}`)
    const caret = before.length + mention.insert.length + 1
    close()
    // The caret is set once the field holds the text.
    requestAnimationFrame(() => {
      field.focus()
      field.setSelectionRange(caret, caret)
    })
  }
  /** Whether the key was for the list. */
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    if (asked === null || event.nativeEvent.isComposing) return false
    const { found, chosen } = asked
    const moves = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (moves !== undefined) {
      setAsked({ ...asked, chosen: (chosen + moves + found.length) % found.length })
    } else if (event.key === 'Enter' || event.key === 'Tab') {
      const mention = found[chosen]
      if (mention !== undefined) take(event.currentTarget, mention)
    } else if (event.key === 'Escape') close()
    else return false
    event.preventDefault()
    return true
  }
  const active = asked === null ? undefined : `${list}-${asked.chosen}`
  return { list, asked, look, take, onKey, close, active }
}

export function MentionList(props: {
  readonly id: string
  readonly asked: Asked | null
  readonly onTake: (mention: Mention) => void
}) {
  const t = useT()
  const { id, asked } = props
  if (asked === null) return null
  return (
    <div
      id={id}
      role="listbox"
      aria-label={t('composer.mentions')}
      className="absolute inset-x-0 bottom-full z-20 mb-1 max-h-64 overflow-y-auto rounded-lg border border-line-strong bg-surface p-1 shadow-lg"
    >
      {asked.found.map((mention, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the chosen one
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys of the list
        <div
          key={`${mention.kind} ${mention.ref}`}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === asked.chosen}
          ref={index === asked.chosen ? intoView : null}
          // Before the click, so that the field does not lose the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => props.onTake(mention)}
          className="flex min-h-7 cursor-pointer items-center gap-2 rounded-md px-2 hover:bg-hover aria-selected:bg-selected"
        >
          <Icon name={ICONS[mention.kind]} size={14} className="text-ink-faint" />
          <span className="min-w-0 truncate">{plainTerminalText(mention.title || mention.ref)}</span>
          <span className="min-w-0 flex-1 truncate text-right text-sm text-ink-faint">
            {mention.title && mention.title !== mention.ref ? plainTerminalText(mention.ref) : ''}
          </span>
          <span className="text-xs text-ink-faint">{t(`composer.mention.${mention.kind}`)}</span>
        </div>
      ))}
    </div>
  )
}

function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView?.({ block: 'nearest' })
}
