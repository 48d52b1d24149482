import { memo } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import rehypeSanitize from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'
import { splitMarkdown } from '@/system/format/markdown-blocks'

const REMARK = [remarkGfm]
const REHYPE = [rehypeSanitize]

/** HTML in the text stays text. An image is a link: loading it would tell its server that this text was read. */
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

/** Past this size a block that is still being written stays plain: it would be parsed anew with every piece. */
const LARGE_BLOCK = 16_000

const Block = memo(({ text, growing }: { text: string; growing: boolean }) => {
  if (growing && text.length > LARGE_BLOCK) return <p className="whitespace-pre-wrap">{text}</p>
  return (
    <ReactMarkdown remarkPlugins={REMARK} rehypePlugins={REHYPE} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  )
})

/** Its words alone: what stands in blocks or leads elsewhere is text here. */
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

/** Past this size a finished text is rendered in blocks too, because parsing it in one piece would be felt. */
const LARGE = 40_000

export default function MarkdownText({ text, streaming }: { text: string; streaming: boolean }) {
  const blocks = streaming || text.length > LARGE ? splitMarkdown(text) : [text]
  return (
    <div className="markdown">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks only grow at their end
        <Block key={index} text={block} growing={streaming && index === blocks.length - 1} />
      ))}
    </div>
  )
}
