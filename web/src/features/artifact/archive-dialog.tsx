import { useId, useState } from 'react'
import type { ArtifactRow } from '@/system/rows/model'
import type { Refusal } from '@/system/stores/notice-store'
import { RadioGroup } from '@/ui/radio-group'
import { CheckboxList, FormDialog } from '../shared/form-dialog'
import { useT } from '../shared/surface'
import { isAvailable } from './artifact-kinds'
import { ExportList, type ExportsHandlers } from './export-list'

const WHICH = ['all', 'chosen'] as const

/** Requests an archive of all or selected artifacts. It is created in the background. */
export function ArchiveDialog(props: {
  readonly artifacts: readonly ArtifactRow[]
  /** An empty list means all artifacts. */
  readonly onCreate: (artifactIds: readonly string[]) => Promise<Refusal | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const [which, setWhich] = useState<(typeof WHICH)[number]>('all')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [none, setNone] = useState(false)
  const [sending, setSending] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const problem = useId()
  const available = props.artifacts.filter(isAvailable).toReversed()
  const create = async () => {
    const ids = available.map((row) => row.artifactId).filter((id) => chosen.has(id))
    setNone(which === 'chosen' && ids.length === 0)
    if ((which === 'chosen' && ids.length === 0) || sending) return
    setSending(true)
    const refusal = await props.onCreate(which === 'all' ? [] : ids)
    setSending(false)
    setRefusal(refusal)
    if (refusal === null) props.onDone()
  }
  return (
    <FormDialog
      title={t('artifact.archive_title')}
      action={t('artifact.archive_export')}
      disabled={sending}
      refusal={refusal}
      onSend={() => void create()}
      onDone={props.onDone}
    >
      <p className="text-ink-soft">{t('artifact.archive_body')}</p>
      <RadioGroup
        label={t('artifact.archive_content')}
        value={which}
        onChange={setWhich}
        choices={WHICH.map((value) => ({ value, label: t(`artifact.archive_content.${value}`) }))}
      />
      {which === 'chosen' && (
        <CheckboxList
          legend={<legend className="sr-only">{t('artifact.archive_content.chosen')}</legend>}
          choices={available.map((row) => ({ key: row.artifactId, label: row.path || row.title }))}
          chosen={chosen}
          onChosen={(these) => {
            setNone(false)
            setChosen(these)
          }}
          describedBy={none ? problem : undefined}
          className="max-h-60"
        />
      )}
      {none && (
        <p id={problem} role="alert" className="text-bad">
          {t('artifact.archive_none')}
        </p>
      )}
    </FormDialog>
  )
}

/** Maximum number of archives shown. */
const MAX_SHOWN = 4

/** The archives of a session, the newest first. */
export function ArchiveList(props: ExportsHandlers & { readonly artifacts: readonly ArtifactRow[] }) {
  const t = useT()
  const archives = props.artifacts
    .flatMap(({ artifactId, exports }) => exports.map((exported) => ({ artifactId, exported })))
    .filter(({ exported: { form } }) => form === 'zip')
    // Ids sort by time.
    .toSorted((a, b) => (a.exported.export < b.exported.export ? -1 : 1))
    .slice(-MAX_SHOWN)
  return <ExportList {...props} label={t('artifact.archives')} exports={archives} />
}
