/** Suggestions for the text after an @. */
import { type KeyboardEvent, useCallback, useId, useRef, useState } from 'react'
import { stripTerminalCodes } from '@/system/format/ansi'
import type { Mention } from '@/system/generated/contracts'
import { Icon, type IconName } from '@/ui/icon'
import { useT } from '../shared/surface'

/** Returns suggestions, the best first. Returns none on failure. */
export type FindMentions = (text: string) => Promise<readonly Mention[]>

interface Suggestions {
  /** The position of the @ in the text. */
  readonly at: number
  readonly mentions: readonly Mention[]
  readonly chosen: number
}

const ICONS: Readonly<Record<Mention['kind'], IconName>> = {
  file: 'document',
  folder: 'folder',
  artifact: 'layers',
  session: 'clock',
  agent: 'thought',
}

/** The mention before the caret; null if there is none. */
export function findMention(
  text: string,
  caret: number,
): { readonly at: number; readonly typed: string } | null {
  const match = /(?:^|[\s([{"'])@([^\s@]{0,200})$/.exec(text.slice(0, caret))
  if (match === null) return null
  const typed = match[1] ?? ''
  return { at: caret - typed.length - 1, typed }
}

export function useMentions(find: FindMentions | undefined, onDraft: (text: string) => void) {
  const list = useId()
  const [suggestions, setSuggestions] = useState<Suggestions | null>(null)
  const turn = useRef(0)
  const close = useCallback(() => {
    turn.current++
    setSuggestions(null)
  }, [])
  /**
   * Update the suggestions for the text before the caret. A late answer for another text is
   * dropped.
   */
  const updateSuggestions = (field: HTMLTextAreaElement) => {
    const caret = field.selectionStart
    const mention = field.selectionEnd === caret ? findMention(field.value, caret) : null
    if (find === undefined || mention === null) return close()
    const request = ++turn.current
    void find(mention.typed).then((mentions) => {
      if (turn.current !== request) return
      setSuggestions(mentions.length === 0 ? null : { at: mention.at, mentions, chosen: 0 })
    })
  }
  const insert = (field: HTMLTextAreaElement, mention: Mention) => {
    if (suggestions === null) return
    // The suggestion may be older than the text; replace what is before the caret now.
    const end = field.selectionStart
    const at = findMention(field.value, end)?.at ?? suggestions.at
    const textBefore = field.value.slice(0, at)
    const after = field.value.slice(end).replace(/^ /, '')
    onDraft(`${textBefore}${mention.insert} ${after}`)
    const caret = textBefore.length + mention.insert.length + 1
    close()
    // Set the caret after the field holds the text.
    requestAnimationFrame(() => {
      field.focus()
      field.setSelectionRange(caret, caret)
    })
  }
  /** Returns whether the list handled the key. */
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    if (suggestions === null || event.nativeEvent.isComposing) return false
    const { mentions, chosen } = suggestions
    const moves = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (moves !== undefined) {
      setSuggestions({ ...suggestions, chosen: (chosen + moves + mentions.length) % mentions.length })
    } else if (event.key === 'Enter' || event.key === 'Tab') {
      const mention = mentions[chosen]
      if (mention !== undefined) insert(event.currentTarget, mention)
    } else if (event.key === 'Escape') close()
    else return false
    event.preventDefault()
    return true
  }
  const active = suggestions === null ? undefined : `${list}-${suggestions.chosen}`
  return { list, suggestions: suggestions, update: updateSuggestions, insert: insert, onKey, close, active }
}

export function MentionList(props: {
  readonly id: string
  readonly suggestions: Suggestions | null
  readonly onTake: (mention: Mention) => void
}) {
  const t = useT()
  const { id, suggestions } = props
  if (suggestions === null) return null
  return (
    <div
      id={id}
      role="listbox"
      aria-label={t('composer.mentions')}
      className="absolute inset-x-0 bottom-full z-20 mb-1 max-h-64 overflow-y-auto rounded-lg border border-line-strong bg-surface p-1 shadow-lg"
    >
      {suggestions.mentions.map((mention, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and refers to the selected option
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys of the list
        <div
          key={`${mention.kind} ${mention.ref}`}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === suggestions.chosen}
          ref={index === suggestions.chosen ? scrollIntoView : null}
          // Handle this before the click, so that the field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => props.onTake(mention)}
          className="flex min-h-7 cursor-pointer items-center gap-2 rounded-md px-2 hover:bg-hover aria-selected:bg-selected"
        >
          <Icon name={ICONS[mention.kind]} size={14} className="text-ink-faint" />
          <span className="min-w-0 truncate">{stripTerminalCodes(mention.title || mention.ref)}</span>
          <span className="min-w-0 flex-1 truncate text-right text-sm text-ink-faint">
            {mention.title && mention.title !== mention.ref ? stripTerminalCodes(mention.ref) : ''}
          </span>
          <span className="text-xs text-ink-faint">{t(`composer.mention.${mention.kind}`)}</span>
        </div>
      ))}
    </div>
  )
}

function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView?.({ block: 'nearest' })
}
