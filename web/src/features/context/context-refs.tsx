/** Context refs of a turn: attached and mentioned files, missing refs and omissions. */
import { stripTerminalCodes } from '@/system/format/ansi'
import { formatCount } from '@/system/format/numbers'
import type { ContextRef, MissingRef, Omission } from '@/system/generated/contracts'
import { Icon, type IconName } from '@/ui/icon'
import { RowImage } from '../shared/row-image'
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

/** A short name for a chip: the last segment of a path, or the title. */
export function shortenName({ ref, kind, source, title = '' }: ContextRef): string {
  const titled = source === 'attached' || kind === 'artifact' || kind === 'session'
  return (titled ? title : '') || ref.replace(/\/+$/, '').split('/').at(-1) || ref
}

/**
 * Refs that the person attached or mentioned. Instructions come with every turn and are not listed.
 */
export function AttachedRefs(props: {
  readonly refs: readonly ContextRef[]
  readonly missing: readonly MissingRef[]
}) {
  const t = useT()
  const attached = props.refs.filter((ref) => ref.source === 'attached' || ref.source === 'mentioned')
  if (attached.length === 0 && props.missing.length === 0) return null
  return (
    <ul aria-label={t('context.attachments')} className="flex flex-wrap items-center gap-1.5 pt-1.5">
      {attached.map((ref) => (
        <li
          key={`${ref.source} ${ref.ref}`}
          title={ref.title || ref.ref}
          className="flex h-7 max-w-64 items-center gap-1.5 rounded-md border border-line bg-surface px-2 text-sm"
        >
          {ref.kind === 'image' && ref.content ? (
            <span className="-ml-1.5 flex size-6 items-center overflow-hidden">
              <RowImage small content={ref.content} alt={shortenName(ref)} />
            </span>
          ) : (
            <Icon name={REF_ICONS[ref.kind]} size={12} className="text-ink-faint" />
          )}
          <span className="min-w-0 truncate">{stripTerminalCodes(shortenName(ref))}</span>
          <span className="sr-only">{t(`context.kind.${ref.kind}`)}</span>
        </li>
      ))}
      {props.missing.map((ref) => (
        <li
          key={`missing ${ref.ref}`}
          title={ref.detail || ref.ref}
          className="flex min-h-7 max-w-full items-center gap-1.5 rounded-md border border-dashed border-warn/70 px-2 text-sm text-warn"
        >
          <Icon name="warning" size={12} />
          <span className="wrap-any min-w-0">
            {stripTerminalCodes(ref.ref)}{' '}
            <span className="text-ink-soft">{t(`context.missing.${ref.reason}`)}</span>
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
        {missing.map((ref) => (
          <li key={`${ref.source} ${ref.ref}`} className="flex items-start gap-2 py-0.5">
            <Icon name="warning" size={12} className="mt-1 text-warn" />
            <span className="min-w-0">
              <span className="wrap-any font-mono text-sm">{stripTerminalCodes(ref.ref)}</span>{' '}
              <span className="text-ink-soft">{t(`context.missing.${ref.reason}`)}</span>
              {ref.detail && (
                <span className="wrap-any block text-sm text-ink-faint">
                  {stripTerminalCodes(ref.detail)}
                </span>
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
        {omitted.map((omission) => (
          <li key={`${omission.reason} ${omission.ref ?? ''}`} className="py-0.5">
            <span className="wrap-any">
              {omission.ref ? (
                <span className="font-mono text-sm">{stripTerminalCodes(omission.ref)}</span>
              ) : (
                t.count(
                  omission.reason === 'older_turns' ? 'context.older' : 'context.items',
                  omission.count ?? 1,
                )
              )}
            </span>{' '}
            {(omission.ref || omission.reason !== 'older_turns') && (
              <span className="text-ink-soft">{t(`context.omitted.${omission.reason}`)}</span>
            )}
            {typeof omission.tokens === 'number' && (
              <span className="tabular text-sm text-ink-faint">
                {' '}
                {t('context.tokens', { tokens: formatCount(omission.tokens, t.locale) })}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
