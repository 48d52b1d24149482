/** What a turn is given beside its text, what was named and is not there, and what was left out. */
import { plainTerminalText } from '@/system/format/ansi'
import { count } from '@/system/format/numbers'
import type { ContextRef, MissingRef, Omission } from '@/system/generated/contracts'
import { Icon, type IconName } from '@/ui/icon'
import { Image } from '../shared/image'
import { useT } from '../shared/surface'

export const REF_ICONS: Readonly<Record<ContextRef['kind'], IconName>> = {
  text: 'document',
  image: 'image',
  binary: 'file',
  folder: 'folder',
  instructions: 'plan',
  artifact: 'layers',
  session: 'clock',
}

/** What a chip has room for: of a file of the folder the last part of its path, of all else its title. */
export function shortName({ ref, kind, source, title = '' }: ContextRef): string {
  const titled = source === 'attached' || kind === 'artifact' || kind === 'session'
  return (titled ? title : '') || ref.replace(/\/+$/, '').split('/').at(-1) || ref
}

/** What came with a turn, beside its words. Instructions of the folder come with every turn and are not said each time. */
export function Given(props: {
  readonly given: readonly ContextRef[]
  readonly missing: readonly MissingRef[]
}) {
  const t = useT()
  const given = props.given.filter((one) => one.source === 'attached' || one.source === 'mentioned')
  if (given.length === 0 && props.missing.length === 0) return null
  return (
    <ul aria-label={t('context.came_with')} className="flex flex-wrap items-center gap-1.5 pt-1.5">
      {given.map((one) => (
        <li
          key={`${one.source} ${one.ref}`}
          title={one.title || one.ref}
          className="flex h-7 max-w-64 items-center gap-1.5 rounded-md border border-line bg-surface px-2 text-sm"
        >
          {one.kind === 'image' && one.content ? (
            <span className="-ml-1.5 flex size-6 items-center overflow-hidden">
              <Image small content={one.content} alt={shortName(one)} />
            </span>
          ) : (
            <Icon name={REF_ICONS[one.kind]} size={12} className="text-ink-faint" />
          )}
          <span className="min-w-0 truncate">{plainTerminalText(shortName(one))}</span>
          <span className="sr-only">{t(`context.kind.${one.kind}`)}</span>
        </li>
      ))}
      {props.missing.map((one) => (
        <li
          key={`missing ${one.ref}`}
          title={one.detail || one.ref}
          className="flex min-h-7 max-w-full items-center gap-1.5 rounded-md border border-dashed border-warn/70 px-2 text-sm text-warn"
        >
          <Icon name="warning" size={12} />
          <span className="wrap-any min-w-0">
            {plainTerminalText(one.ref)}{' '}
            <span className="text-ink-soft">{t(`context.missing.${one.reason}`)}</span>
          </span>
        </li>
      ))}
    </ul>
  )
}

export function MissingList({ missing }: { missing: readonly MissingRef[] }) {
  const t = useT()
  if (missing.length === 0) return null
  return (
    <section>
      <h3 className="text-sm font-medium text-ink-soft">{t('context.missing_title')}</h3>
      <ul aria-label={t('context.missing_title')}>
        {missing.map((one) => (
          <li key={`${one.source} ${one.ref}`} className="flex items-start gap-2 py-0.5">
            <Icon name="warning" size={12} className="mt-1 text-warn" />
            <span className="min-w-0">
              <span className="wrap-any font-mono text-sm">{plainTerminalText(one.ref)}</span>{' '}
              <span className="text-ink-soft">{t(`context.missing.${one.reason}`)}</span>
              {one.detail && (
                <span className="wrap-any block text-sm text-ink-faint">{plainTerminalText(one.detail)}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function OmissionList({ omitted }: { omitted: readonly Omission[] }) {
  const t = useT()
  if (omitted.length === 0) return null
  return (
    <section>
      <h3 className="text-sm font-medium text-ink-soft">{t('context.omitted_title')}</h3>
      <ul aria-label={t('context.omitted_title')}>
        {omitted.map((one) => (
          <li key={`${one.reason} ${one.ref ?? ''}`} className="py-0.5">
            <span className="wrap-any">
              {one.ref ? (
                <span className="font-mono text-sm">{plainTerminalText(one.ref)}</span>
              ) : (
                t.count(one.reason === 'older_turns' ? 'context.older' : 'context.things', one.count ?? 1)
              )}
            </span>{' '}
            {(one.ref || one.reason !== 'older_turns') && (
              <span className="text-ink-soft">{t(`context.omitted.${one.reason}`)}</span>
            )}
            {typeof one.tokens === 'number' && (
              <span className="tabular text-sm text-ink-faint">
                {' '}
                {t('context.tokens', { tokens: count(one.tokens, t.locale) })}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
