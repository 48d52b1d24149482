import { bytes } from '@/system/format/numbers'
import type { ArtifactRow, Export } from '@/system/rows/model'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'

/** What was made to take away: under way until its content is there. */
export function Exports(props: {
  readonly artifact: ArtifactRow
  readonly addressOf: (made: Export) => string
}) {
  const t = useT()
  const { exports } = props.artifact
  if (exports.length === 0) return null
  return (
    <ul aria-label={t('artifact.exports')} className="space-y-1 border-t border-line pt-2">
      {exports.toReversed().map((made) => (
        <li key={made.export} className="flex min-h-6 items-center gap-2">
          <Icon name="download" size={14} className="text-ink-faint" />
          <span className="min-w-0 flex-1 truncate">
            {made.name || t.maybe(`artifact.export.${made.form}`) || made.form}
            <span className="tabular text-ink-faint">
              {' '}
              {made.version > 0 && t('artifact.version', { version: made.version })}
            </span>
          </span>
          {made.content === null ? (
            <span role="status" className="text-sm text-ink-faint">
              {t('artifact.exporting')}
            </span>
          ) : (
            <a
              href={props.addressOf(made)}
              download={made.name || true}
              className="rounded font-medium text-accent hover:underline"
            >
              {t('artifact.download', { size: bytes(made.content.size, t.locale) })}
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}
