import { lazy, memo, Suspense } from 'react'

const MarkdownText = lazy(() => import('./markdown-text'))

/** Sanitised Markdown. Plain text until the renderer is loaded. */
export const Markdown = memo(({ text, streaming }: { text: string; streaming: boolean }) => (
  <Suspense fallback={<div className="markdown whitespace-pre-wrap">{text}</div>}>
    <MarkdownText text={text} streaming={streaming} />
  </Suspense>
))
export const Line = lazy(() => import('./markdown-text').then((text) => ({ default: text.MarkdownLine })))
/** Markdown as one line of text, without headings, lists or links. */
export const MarkdownLine = memo(({ text }: { text: string }) => (
  <Suspense fallback={text}>
    <Line text={text} />
  </Suspense>
))
