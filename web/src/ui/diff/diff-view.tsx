import { lazy, Suspense } from 'react'
import { CodeBlock } from '../code-block'

const DiffLines = lazy(() => import('./diff-lines'))

/** Past so many characters a diff stays text: laying it out would hold the page up. */
const LARGEST = 200_000

export function DiffView(props: {
  readonly diff: string
  readonly label: string
  readonly whole?: boolean
  /** In a box that leaves room for what stands below it. */
  readonly low?: boolean
}) {
  const start = hunksStart(props.diff)
  const plain = <CodeBlock text={props.diff} label={props.label} {...(props.whole && { whole: true })} />
  if (start < 0 || props.diff.length > LARGEST) return plain
  return (
    // biome-ignore lint/a11y/useSemanticElements: no element stands for a named box that scrolls
    <div
      role="group"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
      tabIndex={0}
      className={`diff-view overflow-auto rounded-md border border-line ${heightOf(props)}`}
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

function heightOf({ whole, low }: { readonly whole?: boolean; readonly low?: boolean }): string {
  if (whole) return ''
  return low ? 'max-h-[max(8rem,26vh)]' : 'max-h-96'
}

export function isDiff(text: string): boolean {
  return hunksStart(text) >= 0
}

/** Where the first hunk begins; negative where the text is no diff. */
function hunksStart(text: string): number {
  const found = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.exec(text)
  return found?.index ?? -1
}
