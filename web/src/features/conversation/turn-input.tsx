import { memo } from 'react'
import type { Translate } from '@/system/i18n/translate'
import type { Text, TurnRow } from '@/system/rows/model'
import { Icon } from '@/ui/icon'
import { Badge } from '@/ui/marks'
import { AttachedRefs } from '../context/context-refs'
import { LoadMore } from '../shared/load-more'
import { useFullText, useT } from '../shared/surface'

/** The label of the input's source. Only a person's own text is attributed to them. */
export function labelSpeaker(t: Translate, source: TurnRow['source'], parentName: string): string {
  switch (source) {
    case 'person':
      return t('turn.you')
    case 'agent':
      return parentName === '' ? t('team.source.an_agent') : t('team.source.agent', { agent: parentName })
    case 'inbox':
    case 'notice':
    case 'schedule':
    case 'compaction':
      return t(`team.source.${source}`)
  }
}

/** The input of a turn: verbatim text of a person, or set-off text of an agent. */
export const TurnInput = memo(
  (props: {
    readonly input: Text
    readonly auto: boolean
    readonly source: TurnRow['source']
    readonly parentName: string
    /** Attached refs, and mentioned refs that are missing. */
    readonly refs: TurnRow['given']
    readonly missing: TurnRow['missing']
  }) => {
    const t = useT()
    const full = useFullText(props.input)
    const speaker = labelSpeaker(t, props.source, props.parentName)
    const person = props.source === 'person'
    if (!person && full.text === '') {
      return (
        <p className="flex min-h-7 items-center gap-2 border-l-2 border-line-strong pl-3 text-ink-soft">
          <Icon name={props.source === 'schedule' ? 'clock' : 'inbox'} size={14} className="text-ink-faint" />
          {speaker}
        </p>
      )
    }
    return (
      <div
        className={
          person ? 'rounded-lg bg-bubble px-3.5 py-2.5' : 'border-l-2 border-line-strong py-1 pr-3.5 pl-3'
        }
      >
        <div className="flex items-center gap-2 pb-0.5">
          <span className="text-sm font-semibold">{speaker}</span>
          {person && props.auto && <Badge tone="accent">{t('turn.mode.auto')}</Badge>}
        </div>
        <p className={`wrap-any whitespace-pre-wrap ${person ? 'text-lg' : ''}`}>{full.text}</p>
        <LoadMore full={full} />
        <AttachedRefs refs={props.refs} missing={props.missing} />
      </div>
    )
  },
)
