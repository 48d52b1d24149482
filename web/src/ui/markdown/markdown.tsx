import { lazy, memo, Suspense } from 'react'

const MarkdownText = lazy(() => import('./markdown-text'))

/** Markdown from outside, sanitised. Until the renderer is there, the text stands as it is. */
export const Markdown = memo(({ text, streaming }: { text: string; streaming: boolean }) => (
  <Suspense fallback={<div className="markdown whitespace-pre-wrap">{text}</div>}>
    <MarkdownText text={text} streaming={streaming} />
  </Suspense>
))
