import { useEffect } from 'react'
import type { Version } from '@/system/rows/model'
import type { DiffRead } from '@/system/stores/artifact-store'
import { Button } from '@/ui/button'
import { DiffView } from '@/ui/diff/diff-view'
import { Select } from '@/ui/select'
import { useT } from '../shared/surface'
import { LineCounts } from './artifact-card'

/** The differences of two versions (UI-14). */
export function VersionCompare(props: {
  readonly title: string
  readonly versions: readonly Version[]
  readonly from: number
  readonly to: number
  readonly read: DiffRead | null
  readonly onCompare: (from: number, to: number) => void
  readonly onNeedDiff: (from: number, to: number) => void
}) {
  const t = useT()
  const { from, to, read, onNeedDiff } = props
  const missing = read === null
  useEffect(() => {
    if (missing) onNeedDiff(from, to)
  }, [missing, from, to, onNeedDiff])
  const choices = props.versions.map(({ version }) => ({
    value: `${version}`,
    label: t('artifact.version', { version }),
  }))
  const nothing = { value: '0', label: t('artifact.nothing') }
  return (
    <div className="space-y-2">
      <div className="-ml-2 flex flex-wrap items-center gap-1">
        <Select
          label={t('artifact.from_version')}
          value={`${from}`}
          choices={[nothing, ...choices]}
          onChange={(value) => props.onCompare(Number(value), to)}
        />
        <span aria-hidden="true" className="text-ink-faint">
          →
        </span>
        <Select
          label={t('artifact.to_version')}
          value={`${to}`}
          choices={choices}
          onChange={(value) => props.onCompare(from, Number(value))}
        />
        {read?.state === 'read' && (
          <LineCounts added={read.diff.added ?? 0} removed={read.diff.removed ?? 0} />
        )}
      </div>
      <Difference {...props} />
    </div>
  )
}

function Difference(props: {
  readonly title: string
  readonly from: number
  readonly to: number
  readonly read: DiffRead | null
  readonly onNeedDiff: (from: number, to: number) => void
}) {
  const t = useT()
  const { read } = props
  if (read === null || read.state === 'loading') return <p className="text-ink-faint">{t('tool.loading')}</p>
  if (read.state !== 'read') {
    return (
      <p className="flex items-center gap-2 text-ink-soft">
        {t('artifact.diff_failed')}
        <Button look="outline" onClick={() => props.onNeedDiff(props.from, props.to)}>
          {t('turn.load_again')}
        </Button>
      </p>
    )
  }
  const { diff = '', binary = false, cut = false } = read.diff
  if (binary) return <p className="text-ink-soft">{t('artifact.diff_binary')}</p>
  if (diff === '') return <p className="text-ink-soft">{t('artifact.diff_none')}</p>
  return (
    <>
      <DiffView whole diff={diff} label={t('diff.label', { path: props.title })} />
      {cut && <p className="text-sm text-ink-faint">{t('artifact.diff_cut')}</p>}
    </>
  )
}
