import { formatBytes } from '@/system/format/numbers'
import type { Export } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'

export interface ExportsHandlers {
  /** Save a finished export as a file. */
  readonly onDownload: (made: Export) => void
  /** Retry a failed export. */
  readonly onRetryExport: (artifactId: string, exportId: string) => void
}

/** Exports of an artifact: running, ready or failed. */
export function ExportList(
  props: ExportsHandlers & {
    readonly label: string
    readonly exports: readonly { readonly artifactId: string; readonly made: Export }[]
  },
) {
  if (props.exports.length === 0) return null
  return (
    <ul aria-label={props.label} className="space-y-1 border-t border-line pt-2">
      {props.exports.toReversed().map(({ artifactId, made }) => (
        <li key={made.export} className="flex min-h-6 flex-wrap items-center gap-x-2">
          <Icon name={made.form === 'zip' ? 'archive' : 'download'} size={14} className="text-ink-faint" />
          <Name made={made} />
          <State
            made={made}
            onDownload={() => props.onDownload(made)}
            onRetryExport={() => props.onRetryExport(artifactId, made.export)}
          />
        </li>
      ))}
    </ul>
  )
}

function Name({ made }: { made: Export }) {
  const t = useT()
  const archive = made.everything
    ? t('artifact.archive_of_all')
    : t.count('artifact.archive_of', made.artifacts)
  const what = made.form === 'zip' ? archive : t.maybe(`artifact.export.${made.form}`) || made.form
  return (
    <span className="min-w-24 flex-1 truncate">
      {made.name || what}
      {made.form !== 'zip' && made.version > 0 && (
        <span className="tabular text-ink-faint"> {t('artifact.version', { version: made.version })}</span>
      )}
    </span>
  )
}

function State(props: {
  readonly made: Export
  readonly onDownload: () => void
  readonly onRetryExport: () => void
}) {
  const t = useT()
  const { made } = props
  if (made.content !== null) {
    return (
      <>
        <button
          type="button"
          onClick={props.onDownload}
          className="rounded font-medium text-accent hover:underline"
        >
          {t('artifact.download', { size: formatBytes(made.content.size, t.locale) })}
        </button>
        {made.leftOut > 0 && (
          <span className="basis-full pl-5.5 text-sm text-warn">
            {t.count('artifact.left_out', made.leftOut)}
          </span>
        )}
      </>
    )
  }
  if (made.code !== '') {
    const why =
      t.maybe(`artifact.failed.${made.code}`) ?? t.maybe(`code.${made.code}`) ?? t('artifact.export_failed')
    return (
      <>
        <Button look="outline" onClick={props.onRetryExport}>
          {t('artifact.retry')}
        </Button>
        <span role="alert" className="wrap-any basis-full pl-5.5 text-sm text-ink-soft">
          <span className="font-medium text-bad">{why}</span> {made.message}
        </span>
      </>
    )
  }
  return (
    <>
      <span role="status" className="text-sm text-ink-faint">
        {t('artifact.exporting')}
      </span>
      {made.total > 0 && (
        <progress
          aria-label={t('artifact.export_progress')}
          max={made.total}
          value={made.done}
          className="h-1 basis-full appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
        />
      )}
    </>
  )
}
