import { useState } from 'react'
import { formatAgo } from '@/system/format/numbers'
import type { ArtifactRow } from '@/system/rows/model'
import type { NewArtifact } from '@/system/stores/artifact-store'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { useNow } from '@/ui/use-now'
import { useNames, useReadOnly, useT } from '../shared/surface'
import { ArchiveDialog, ArchiveList } from './archive-dialog'
import { ArtifactState } from './artifact-card'
import type { ArtifactListHandlers } from './artifact-handlers'
import { isAvailable, KIND_ICONS } from './artifact-kinds'
import { NewArtifactDialog } from './new-artifact-dialog'

/** Number of artifacts from which a filter is shown. */
const FILTER_FROM = 8

interface ArtifactListProps {
  readonly artifacts: readonly ArtifactRow[]
  readonly openId: string | null
  /** The draft of a new artifact. */
  readonly draft: NewArtifact
  readonly handlers: ArtifactListHandlers
}

/** The artifacts of a session, the newest first, with their actions. */
export function ArtifactList(props: ArtifactListProps) {
  const t = useT()
  const { artifacts, handlers } = props
  const forReading = useReadOnly()
  const [asking, setAsking] = useState<'new' | 'archive' | null>(null)
  const closeDialog = () => setAsking(null)
  return (
    <>
      {!forReading && (
        <div className="-ml-2 flex flex-wrap gap-1">
          <Button icon="plus" aria-haspopup="dialog" onClick={() => setAsking('new')}>
            {t('artifact.new')}
          </Button>
          {artifacts.some(isAvailable) && (
            <Button icon="archive" aria-haspopup="dialog" onClick={() => setAsking('archive')}>
              {t('artifact.archive')}
            </Button>
          )}
        </div>
      )}
      {artifacts.length === 0 ? (
        <p className="text-ink-faint">{t('artifact.none')}</p>
      ) : (
        <FilteredList {...props} />
      )}
      <ArchiveList
        artifacts={artifacts}
        onDownload={handlers.onDownload}
        onRetryExport={handlers.onRetryExport}
      />
      {asking === 'new' && (
        <NewArtifactDialog
          draft={props.draft}
          onWrite={handlers.onWriteNew}
          onCreate={handlers.onCreate}
          onDone={closeDialog}
        />
      )}
      {asking === 'archive' && (
        <ArchiveDialog artifacts={artifacts} onCreate={handlers.onArchive} onDone={closeDialog} />
      )}
    </>
  )
}

function FilteredList(props: ArtifactListProps) {
  const t = useT()
  const [words, setWords] = useState('')
  const query = words.trim().toLocaleLowerCase(t.locale)
  const fits = (row: ArtifactRow) => `${row.title} ${row.path}`.toLocaleLowerCase(t.locale).includes(query)
  const listed = props.artifacts.filter(fits).toReversed()
  return (
    <>
      {props.artifacts.length >= FILTER_FROM && (
        <input
          type="search"
          aria-label={t('artifact.filter')}
          placeholder={t('artifact.filter')}
          value={words}
          onChange={(event) => setWords(event.target.value)}
          className="h-7 w-full rounded-md border border-line bg-paper px-2"
        />
      )}
      <ul aria-label={t('artifact.title')} className="-mx-2">
        {listed.map((row) => (
          <li key={row.key}>
            <Entry row={row} isSelected={row.artifactId === props.openId} onOpen={props.handlers.onOpen} />
          </li>
        ))}
      </ul>
    </>
  )
}

function Entry(props: {
  readonly row: ArtifactRow
  readonly isSelected: boolean
  readonly onOpen: (artifactId: string) => void
}) {
  const t = useT()
  const now = useNow(30_000)
  const names = useNames()
  const { row } = props
  const folder = row.path.includes('/') ? row.path.slice(0, row.path.lastIndexOf('/')) : ''
  const author = row.agentId === '' ? '' : names.nameAgent(row.agentId)
  return (
    <button
      type="button"
      aria-current={props.isSelected}
      onClick={() => props.onOpen(row.artifactId)}
      className="flex w-full items-start gap-2 rounded-md px-2 py-1 text-left hover:bg-hover aria-[current=true]:bg-selected"
    >
      <Icon name={KIND_ICONS[row.artifactKind]} size={14} className="mt-[3px] text-ink-faint" />
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-2">
          <span
            className={`min-w-0 flex-1 truncate font-medium ${row.status === 'deleted' ? 'line-through' : ''}`}
          >
            {row.title}
          </span>
          {row.status !== 'saved' && <ArtifactState row={row} />}
        </span>
        <span className="flex gap-x-2 text-sm text-ink-faint">
          <span className="tabular">{t('artifact.version', { version: row.version })}</span>
          {folder !== '' && <span className="min-w-0 truncate font-mono">{folder}</span>}
          {author !== '' && <span className="min-w-0 truncate">{author}</span>}
          {row.updatedAt > 0 && (
            <span className="tabular ml-auto shrink-0">{formatAgo(row.updatedAt / 1000, now, t.locale)}</span>
          )}
        </span>
      </span>
    </button>
  )
}
