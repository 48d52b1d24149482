import { memo } from 'react'
import type { TextPart } from '@/system/rows/model'
import { IconButton } from '@/ui/button'
import { CopyButton } from '@/ui/copy-button'
import { Markdown } from '@/ui/markdown/markdown'
import { Badge } from '@/ui/marks'
import { LoadMore } from '../shared/load-more'
import { useFullText, useT, useWholeText } from '../shared/surface'

/** `last`: the actions of an answer are below its last part. */
export const Answer = memo(
  (props: { readonly part: TextPart; readonly last: boolean; readonly onInspect: () => void }) => {
    const t = useT()
    const { part, last } = props
    // Load the whole answer automatically if the row has only a preview.
    const full = useWholeText(part.content)
    return (
      <div className="group">
        <Markdown text={full.text} streaming={part.state === 'streaming'} />
        {full.state !== 'loading' && full.state !== 'preview' && <LoadMore full={full} />}
        {(last || part.revised) && (
          <div className="flex h-7 items-center gap-2 text-sm text-ink-faint">
            {part.state === 'interrupted' && <Badge tone="warn">{t('turn.partial_answer')}</Badge>}
            {part.revised && <Badge>{t('turn.revised')}</Badge>}
            {last && (
              <span className="-ml-1.5 flex opacity-0 transition-opacity group-hover:opacity-100 focus-within:opacity-100">
                <CopyButton text={full.text} label={t('app.copy')} done={t('app.copied')} />
                <IconButton icon="details" label={t('turn.details')} onClick={props.onInspect} />
              </span>
            )}
          </div>
        )}
      </div>
    )
  },
)

/** Text inside the process: streaming, or commentary between tool calls. */
export const ProcessText = memo(({ part }: { part: TextPart }) => {
  const t = useT()
  const full = useFullText(part.content)
  return (
    <div aria-busy={part.state === 'streaming'}>
      <Markdown text={full.text} streaming={part.state === 'streaming'} />
      <LoadMore full={full} />
      {part.state === 'interrupted' && <Badge tone="warn">{t('turn.partial_answer')}</Badge>}
      {part.revised && <Badge>{t('turn.revised')}</Badge>}
    </div>
  )
})
