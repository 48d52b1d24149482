import { lazy, memo, Suspense } from 'react'

const Line = lazy(() => import('./markdown-text').then((text) => ({ default: text.MarkdownLine })))

/** Markdown from outside where there is room for a few words: its text, without headings, lists or links. */
export const MarkdownLine = memo(({ text }: { text: string }) => (
  <Suspense fallback={text}>
    <Line text={text} />
  </Suspense>
))
