import { formatBytes } from '@/system/format/numbers'
import type { Text } from '@/system/rows/nested-entries'
import { type FullText, useFullText, useT } from './surface'

/** A note and a button below a text that is not completely loaded. */
export function LoadMore({ full }: { full: FullText }) {
  const t = useT()
  if (full.state === 'whole') return null
  if (full.state === 'loading') return <p className="pt-1 text-sm text-ink-faint">{t('tool.loading')}</p>
  const text = {
    preview: t('tool.preview', { size: formatBytes(full.size, t.locale) }),
    part: t('tool.preview', { size: formatBytes(full.size, t.locale) }),
    failed: t('tool.load_failed'),
  }[full.state]
  return (
    <p className="pt-1 text-sm text-ink-faint">
      {text}{' '}
      <button type="button" onClick={full.load} className="rounded font-medium text-accent hover:underline">
        {t(full.state === 'part' ? 'tool.load_more' : 'tool.load_all')}
      </button>
    </p>
  )
}

/** A text of a row, without markup. */
export function LongText({ text }: { text: Text }) {
  const full = useFullText(text)
  if (full.text === '') return null
  return (
    <div>
      <p className="wrap-any max-h-72 overflow-y-auto whitespace-pre-wrap">{full.text}</p>
      <LoadMore full={full} />
    </div>
  )
}
