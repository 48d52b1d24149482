import { formatBytes } from '@/system/format/numbers'
import type { Export } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'

export interface ExportsHandlers {
  /** Save a finished export as a file. */
  readonly onDownload: (exported: Export) => void
  /** Retry a failed export. */
  readonly onRetryExport: (artifactId: string, exportId: string) => void
}

/** Exports of an artifact: running, ready or failed. */
export function ExportList(
  props: ExportsHandlers & {
    readonly label: string
    readonly exports: readonly { readonly artifactId: string; readonly exported: Export }[]
  },
) {
  if (props.exports.length === 0) return null
  return (
    <ul aria-label={props.label} className="space-y-1 border-t border-line pt-2">
      {props.exports.toReversed().map(({ artifactId, exported }) => (
        <li key={exported.export} className="flex min-h-6 flex-wrap items-center gap-x-2">
          <Icon
            name={exported.form === 'zip' ? 'archive' : 'download'}
            size={14}
            className="text-ink-faint"
          />
          <Name exported={exported} />
          <State
            exported={exported}
            onDownload={() => props.onDownload(exported)}
            onRetryExport={() => props.onRetryExport(artifactId, exported.export)}
          />
        </li>
      ))}
    </ul>
  )
}

function Name({ exported }: { exported: Export }) {
  const t = useT()
  const archive = exported.everything
    ? t('artifact.archive_of_all')
    : t.count('artifact.archive_of', exported.artifacts)
  const label =
    exported.form === 'zip' ? archive : t.find(`artifact.export.${exported.form}`) || exported.form
  return (
    <span className="min-w-24 flex-1 truncate">
      {exported.name || label}
      {exported.form !== 'zip' && exported.version > 0 && (
        <span className="tabular text-ink-faint">
          {' '}
          {t('artifact.version', { version: exported.version })}
        </span>
      )}
    </span>
  )
}

function State(props: {
  readonly exported: Export
  readonly onDownload: () => void
  readonly onRetryExport: () => void
}) {
  const t = useT()
  const { exported } = props
  if (exported.content !== null) {
    return (
      <>
        <button
          type="button"
          onClick={props.onDownload}
          className="rounded font-medium text-accent hover:underline"
        >
          {t('artifact.download', { size: formatBytes(exported.content.size, t.locale) })}
        </button>
        {exported.leftOut > 0 && (
          <span className="basis-full pl-5.5 text-sm text-warn">
            {t.count('artifact.omitted', exported.leftOut)}
          </span>
        )}
      </>
    )
  }
  if (exported.code !== '') {
    const problem =
      t.find(`artifact.failed.${exported.code}`) ??
      t.find(`code.${exported.code}`) ??
      t('artifact.export_failed')
    return (
      <>
        <Button look="outline" onClick={props.onRetryExport}>
          {t('artifact.retry')}
        </Button>
        <span role="alert" className="wrap-any basis-full pl-5.5 text-sm text-ink-soft">
          <span className="font-medium text-bad">{problem}</span> {exported.message}
        </span>
      </>
    )
  }
  return (
    <>
      <span role="status" className="text-sm text-ink-faint">
        {t('artifact.exporting')}
      </span>
      {exported.total > 0 && (
        <progress
          aria-label={t('artifact.export_progress')}
          max={exported.total}
          value={exported.done}
          className="h-1 basis-full appearance-none overflow-hidden rounded-full bg-line [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
        />
      )}
    </>
  )
}
