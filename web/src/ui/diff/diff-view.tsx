import { lazy, Suspense } from 'react'
import { CodeBlock } from '../code-block'

const DiffLines = lazy(() => import('./diff-lines'))

/** Longer diffs, in characters, are shown as plain text: laying them out would block the page. */
const MAX_CHARS = 200_000

export function DiffView(props: {
  readonly diff: string
  readonly label: string
  readonly whole?: boolean
  /** A lower box, for content below it. */
  readonly low?: boolean
}) {
  const start = findHunks(props.diff)
  const plain = <CodeBlock text={props.diff} label={props.label} {...(props.whole && { whole: true })} />
  if (start < 0 || props.diff.length > MAX_CHARS) return plain
  return (
    // biome-ignore lint/a11y/useSemanticElements: no element means a named scrollable box
    <div
      role="group"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable box must be reachable by keyboard
      tabIndex={0}
      className={`diff-view overflow-auto rounded-md border border-line ${chooseHeight(props)}`}
    >
      <Suspense
        fallback={
          <pre className="wrap-any px-2.5 py-2 font-mono text-sm whitespace-pre-wrap">{props.diff}</pre>
        }
      >
        <DiffLines hunks={props.diff.slice(start)} />
      </Suspense>
    </div>
  )
}

function chooseHeight({ whole, low }: { readonly whole?: boolean; readonly low?: boolean }): string {
  if (whole) return ''
  return low ? 'max-h-[max(8rem,26vh)]' : 'max-h-96'
}

export function isDiff(text: string): boolean {
  return findHunks(text) >= 0
}

/** The position of the first hunk; negative if the text is not a diff. */
function findHunks(text: string): number {
  const match = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.exec(text)
  return match?.index ?? -1
}
