import { memo } from 'react'
import { formatCount } from '@/system/format/numbers'
import type { Translate } from '@/system/i18n/translate'
import type { ContextPart } from '@/system/rows/model'
import { Icon } from '@/ui/icon'
import { describeHint } from '../shared/code-texts'
import { LoadMore } from '../shared/load-more'
import { useOpened } from '../shared/opened-rows'
import { useFullText, useT } from '../shared/surface'
import { MissingList, OmissionList } from './context-refs'

/** A change of a turn's context. Its summary is shown on demand and is not an answer (UI-25). */
export const ContextLine = memo(({ part }: { part: ContextPart }) => {
  const t = useT()
  const [open, setOpen] = useOpened(part.key)
  const more = hasMore(part)
  const head = (
    <>
      <Icon
        name={part.event === 'resolved' ? 'clip' : 'layers'}
        size={14}
        className={part.event === 'compacting' ? 'animate-breathe text-accent' : 'text-ink-faint'}
      />
      <span className="min-w-0 flex-1">
        {describeLine(t, part)} <span className="tabular text-ink-faint">{formatFigures(t, part)}</span>
      </span>
    </>
  )
  const look = 'flex min-h-7 w-full items-center gap-2 rounded text-left text-ink-soft'
  if (!more) return <p className={look}>{head}</p>
  return (
    <div className={part.event === 'resolved' ? '' : 'border-y border-line py-0.5'}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className={`${look} hover:bg-hover`}
      >
        {head}
        <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} className="text-ink-faint" />
      </button>
      {open && <More part={part} />}
    </div>
  )
})

function hasMore(part: ContextPart): boolean {
  const { summary, missing, omitted, message, code } = part
  const hasSummary = summary.text !== '' || summary.ref !== null || summary.erased
  return hasSummary || missing.length > 0 || omitted.length > 0 || message !== '' || code !== ''
}

function describeLine(t: Translate, part: ContextPart): string {
  if (part.event !== 'resolved') return t(`context.${part.event}.${part.cause ?? 'unknown'}`)
  const counts = [
    part.given > 0 ? t.count('context.attachment_count', part.given) : '',
    part.missing.length > 0 ? t.count('context.missing', part.missing.length) : '',
    part.omitted.length > 0 ? t('context.some_omitted') : '',
  ]
  return counts.filter(Boolean).join(' · ') || t('context.no_attachments')
}

function formatFigures(t: Translate, { tokensBefore, tokensAfter }: ContextPart): string {
  if (tokensBefore === null || tokensAfter === null) return ''
  return t('context.from_to', {
    before: formatCount(tokensBefore, t.locale),
    after: formatCount(tokensAfter, t.locale),
  })
}

function More({ part }: { part: ContextPart }) {
  const t = useT()
  const full = useFullText(part.summary)
  const hint = describeHint(t, part.code, '')
  return (
    <div className="space-y-2 pt-1 pb-2 pl-[22px]">
      {part.code !== '' && <p className="text-bad">{t.find(`code.${part.code}`) ?? part.code}</p>}
      {part.message !== '' && <p className="wrap-any text-ink-soft">{part.message}</p>}
      {hint !== '' && <p className="wrap-any text-ink-soft">{hint}</p>}
      {full.text !== '' && (
        <section aria-label={t('context.summary')} className="rounded-md bg-sunken px-3 py-2">
          <p className="wrap-any whitespace-pre-wrap">{full.text}</p>
          <LoadMore full={full} />
        </section>
      )}
      {part.said > 0 && <p className="text-ink-faint">{t.count('context.kept_messages', part.said)}</p>}
      <MissingList missing={part.missing} />
      <OmissionList omitted={part.omitted} />
    </div>
  )
}
