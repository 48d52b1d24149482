import { useState } from 'react'
import { countInvisible, countMasked, type Fold, foldLines } from '@/system/format/exact-text'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'

/**
 * Text that would run. Each character is visible, or in a fold that shows its length and opens with
 * one press.
 */
export function ExactText(props: {
  readonly text: string
  readonly label: string
  readonly isDiff?: boolean
}) {
  const parts = foldLines(props.text, props.isDiff)
  return (
    // biome-ignore lint/a11y/useSemanticElements: no element means a named scrollable box
    <div
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable box must be reachable by keyboard
      tabIndex={0}
      aria-label={props.label}
      className="max-h-[max(8rem,26vh)] overflow-auto rounded-md border border-line bg-sunken px-2.5 py-2"
    >
      <pre className="wrap-any font-mono text-sm whitespace-pre-wrap">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text keep their order
          <Part key={index} part={part} last={index === parts.length - 1} />
        ))}
      </pre>
    </div>
  )
}

function Part({ part, last }: { readonly part: string | Fold; readonly last: boolean }) {
  const t = useT()
  const [open, setOpen] = useState(false)
  if (typeof part === 'string' || open) {
    const text = typeof part === 'string' ? part : part.text
    return (
      <>
        <Marked text={text} />
        {last ? '' : '\n'}
      </>
    )
  }
  return (
    <button
      type="button"
      onClick={() => setOpen(true)}
      className="my-0.5 block rounded bg-warn/10 px-1.5 font-sans font-medium text-warn hover:underline"
    >
      {t.count(`action.fold.${part.kind}`, part.count)}
    </button>
  )
}

const MARKS = /(⟨U\+[0-9A-F]{4,6}(?: ×\d+)?⟩)/

function Marked({ text }: { readonly text: string }) {
  const pieces = text.split(MARKS)
  return pieces.map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text keep their order
      <mark key={index} className="rounded-sm bg-warn/15 text-warn">
        {piece}
      </mark>
    ),
  )
}

/** A text with more lines may not fit into its box, so its line count is shown. */
const MAX_LINES = 12

/** Notes on a text: number of commands (null: unknown), length, invisible and masked characters. */
export function TextNotes({ text, commands }: { readonly text: string; readonly commands: number | null }) {
  const t = useT()
  const invisible = countInvisible(text)
  const masked = countMasked(text)
  const lines = text.split('\n').length
  const notes = [
    ...(commands === null ? [t('action.commands_unread')] : []),
    ...(commands !== null && commands > 1 ? [t.count('action.commands', commands)] : []),
    ...(commands !== 0 && lines > MAX_LINES ? [t.count('action.lines', lines)] : []),
    ...(invisible > 0 ? [t.count('action.invisible', invisible)] : []),
    ...(masked > 0 ? [t.count('action.masked', masked)] : []),
  ]
  if (notes.length === 0) return null
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-0.5 pb-1 text-sm text-warn">
      {notes.map((note) => (
        <li key={note} className="flex items-center gap-1.5">
          <Icon name="warning" size={12} />
          {note}
        </li>
      ))}
    </ul>
  )
}
