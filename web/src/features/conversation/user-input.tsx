import { memo } from 'react'
import type { Text } from '@/system/rows/model'
import { Badge } from '@/ui/marks'
import { LoadMore } from '../shared/load-more'
import { useFullText, useT } from '../shared/surface'

/** What a person said, as they said it. */
export const UserInput = memo((props: { readonly input: Text; readonly auto: boolean }) => {
  const t = useT()
  const full = useFullText(props.input)
  return (
    <div className="rounded-lg bg-bubble px-3.5 py-2.5">
      <div className="flex items-center gap-2 pb-0.5">
        <span className="text-sm font-semibold">{t('turn.you')}</span>
        {props.auto && <Badge tone="accent">{t('turn.mode.auto')}</Badge>}
      </div>
      <p className="wrap-any text-lg whitespace-pre-wrap">{full.text}</p>
      <LoadMore full={full} />
    </div>
  )
})
