import { useLayoutEffect, useRef } from 'react'

/** Plain text in a box of limited height. With `follow`, the newest lines stay in view. */
export function CodeBlock(props: {
  readonly text: string
  readonly label: string
  readonly follow?: boolean
  /** No height limit: the container scrolls. */
  readonly whole?: boolean
}) {
  const box = useRef<HTMLDivElement>(null)
  const length = props.text.length
  useLayoutEffect(() => {
    if (props.follow && box.current !== null && length > 0) box.current.scrollTop = box.current.scrollHeight
  }, [props.follow, length])
  return (
    // biome-ignore lint/a11y/useSemanticElements: no element means a named scrollable box
    <div
      ref={box}
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable box must be reachable by keyboard
      tabIndex={0}
      aria-label={props.label}
      className={`rounded-md border border-line bg-sunken px-2.5 py-2 ${props.whole ? '' : 'max-h-64 overflow-auto'}`}
    >
      <pre className="wrap-any font-mono text-sm whitespace-pre-wrap">{props.text}</pre>
    </div>
  )
}
