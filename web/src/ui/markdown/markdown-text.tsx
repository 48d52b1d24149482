import { memo } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import rehypeSanitize from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import { splitMarkdown } from '@/system/format/markdown-blocks'

const REMARK = [remarkGfm]
const REHYPE = [rehypeSanitize]

/**
 * HTML stays text. An image becomes a link: loading it would reveal to its server that the text was
 * read.
 */
const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer noopener">
      {alt || String(src)}
    </a>
  ),
}

/** Longer streaming blocks stay plain text, because each new piece would parse them again. */
const LARGE_BLOCK = 16_000

const Block = memo(({ text, growing }: { text: string; growing: boolean }) => {
  if (growing && text.length > LARGE_BLOCK) return <p className="whitespace-pre-wrap">{text}</p>
  return (
    <ReactMarkdown remarkPlugins={REMARK} rehypePlugins={REHYPE} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  )
})

/** Markdown as one line of text, without blocks and links. */
export const MarkdownLine = memo(({ text }: { text: string }) => (
  <ReactMarkdown
    remarkPlugins={REMARK}
    rehypePlugins={REHYPE}
    allowedElements={['strong', 'em', 'code', 'del']}
    unwrapDisallowed
  >
    {text}
  </ReactMarkdown>
))

/**
 * Longer finished texts are rendered in blocks as well, because parsing them at once would block
 * the page.
 */
const LARGE = 40_000

export default function MarkdownText({ text, streaming }: { text: string; streaming: boolean }) {
  const blocks = streaming || text.length > LARGE ? splitMarkdown(text) : [text]
  return (
    <div className="markdown">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only appended
        <Block key={index} text={block} growing={streaming && index === blocks.length - 1} />
      ))}
    </div>
  )
}
