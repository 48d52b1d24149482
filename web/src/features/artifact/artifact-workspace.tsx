import { useCallback, useState } from 'react'
import { type ArtifactRow, readText, type Version } from '@/system/rows/model'
import type { ArtifactDraft, DiffRead } from '@/system/stores/artifact-store'
import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { RadioGroup } from '@/ui/radio-group'
import { RefusalAlert } from '../shared/refusal'
import { useT, useWholeText } from '../shared/surface'
import { ArtifactEditor, MAX_CHARS } from './artifact-editor'
import type { ArtifactHandlers } from './artifact-handlers'
import { ArtifactHead } from './artifact-head'
import { isText, mergeVersions } from './artifact-kinds'
import { DeleteArtifact } from './delete-artifact'
import { ExportList } from './export-list'
import { OrphanedDraft } from './orphaned-draft'
import { UnsavedDraft } from './unsaved-draft'
import { VersionCompare } from './version-compare'
import { VersionList } from './version-list'
import { VersionPreview } from './version-preview'

const TABS = ['preview', 'compare', 'versions'] as const
type ArtifactTab = (typeof TABS)[number]

export interface ArtifactWorkspaceProps {
  readonly artifact: ArtifactRow
  /** Versions read in addition to those of the row; null if none were read. */
  readonly read: readonly Version[] | null
  /** The requested version; null for the newest. */
  readonly version: number | null
  readonly draft: ArtifactDraft | null
  readonly busy: boolean
  readonly refusal: Refusal | null
  readonly getDiff: (from: number, to: number) => DiffRead | null
  /** The artifact that replaced this one after its deletion. */
  readonly successor: ArtifactRow | null
  readonly handlers: ArtifactHandlers
}

/** An artifact: preview, versions, differences and editor. */
export default function ArtifactWorkspace(props: ArtifactWorkspaceProps) {
  const t = useT()
  const { artifact, draft, handlers } = props
  const [tab, setTab] = useState<ArtifactTab>('preview')
  const [pair, setPair] = useState<readonly [number, number] | null>(null)
  // Reopen the editor if there is a draft.
  const [editing, setEditing] = useState(draft !== null)
  const [deleting, setDeleting] = useState(false)
  const versions = mergeVersions(artifact.versions, props.read)
  const newest = versions.at(-1) ?? null
  const selected = versions.find((version) => version.version === props.version) ?? newest
  const compare = (a: number, b: number) => {
    setPair([a, b])
    setTab('compare')
    setEditing(false)
  }
  const deleted = artifact.status === 'deleted'
  const editor = editing && draft !== null && !deleted
  const begin = (next: ArtifactDraft) => {
    handlers.onDraft(artifact, next)
    setEditing(true)
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <ArtifactHead
        artifact={artifact}
        handlers={handlers}
        version={selected}
        onDelete={() => setDeleting(true)}
      />
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 pb-2">
        <RadioGroup
          label={t('artifact.tabs')}
          value={editor ? null : tab}
          onChange={(next) => {
            setTab(next)
            setEditing(false)
          }}
          choices={TABS.map((value) => ({ value, label: t(`artifact.tab.${value}`) }))}
        />
        <span className="flex-1" />
        {!deleted && isText(artifact) && newest !== null && !editor && (
          <EditButton key={newest.content.hash} newest={newest} draft={draft} onBegin={begin} />
        )}
      </div>
      <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-4 py-3">
        {!editor && <RefusalAlert refusal={props.refusal} />}
        {deleted && (draft !== null || artifact.draft !== null) && (
          <OrphanedDraft
            artifact={artifact}
            draft={draft}
            successor={props.successor}
            onContinue={(successor, text) => handlers.onContinue(artifact, successor, text)}
            onCreate={(draft) => handlers.onCreate(artifact, draft)}
            onDiscard={() => handlers.onDraft(artifact, null)}
          />
        )}
        {draft === null && (
          <UnsavedDraft
            artifact={artifact}
            busy={props.busy}
            onTakeUp={begin}
            onRetry={(base) => handlers.onRetry(artifact, base)}
          />
        )}
        {editor ? (
          <ArtifactEditor
            artifact={artifact}
            newest={newest}
            draft={draft}
            saving={props.busy}
            refusal={props.refusal}
            onDraft={(next) => {
              handlers.onDraft(artifact, next)
              if (next === null) setEditing(false)
            }}
            onSave={() => {
              // Show the version that was saved.
              setTab('preview')
              handlers.onSave(artifact)
            }}
            onCompare={compare}
          />
        ) : (
          <SelectedTab
            {...props}
            tab={tab}
            selected={selected}
            versions={versions}
            pair={pair}
            onCompare={compare}
            onShow={(version) => {
              handlers.onOpen(artifact.artifactId, version)
              setTab('preview')
            }}
          />
        )}
        {!editor && (
          <ExportList
            label={t('artifact.exports')}
            exports={artifact.exports.map((exported) => ({
              artifactId: artifact.artifactId,
              exported,
            }))}
            onDownload={handlers.onDownload}
            onRetryExport={handlers.onRetryExport}
          />
        )}
      </div>
      {deleting && (
        <DeleteArtifact
          artifact={artifact}
          onDelete={(file) => {
            setDeleting(false)
            handlers.onDelete(artifact, file)
          }}
          onDone={() => setDeleting(false)}
        />
      )}
    </div>
  )
}

/** The selected tab: preview, differences or versions. */
function SelectedTab(
  props: ArtifactWorkspaceProps & {
    readonly tab: ArtifactTab
    readonly selected: Version | null
    readonly versions: readonly Version[]
    readonly pair: readonly [number, number] | null
    readonly onCompare: (from: number, to: number) => void
    readonly onShow: (version: number) => void
  },
) {
  const t = useT()
  const { artifact, selected, versions, handlers } = props
  const { onNeedDiff } = handlers
  const needDiff = useCallback((a: number, b: number) => onNeedDiff(artifact, a, b), [onNeedDiff, artifact])
  if (selected === null) return <p className="text-ink-faint">{t('app.unknown')}</p>
  const [from, to] = props.pair ?? selectAdjacentVersions(versions, selected)
  const cut = versions[0] !== undefined && versions[0].version > 1
  switch (props.tab) {
    case 'preview':
      return <VersionPreview artifact={artifact} version={selected} />
    case 'compare':
      return (
        <VersionCompare
          title={artifact.title}
          versions={versions}
          from={from}
          to={to}
          read={props.getDiff(from, to)}
          onCompare={props.onCompare}
          onNeedDiff={needDiff}
        />
      )
    case 'versions':
      return (
        <VersionList
          artifact={artifact}
          versions={versions}
          openVersion={selected.version}
          onShow={props.onShow}
          onCompare={props.onCompare}
          onRestore={(version) => handlers.onRestore(artifact, version)}
          onGoToTurn={handlers.onGoToTurn}
          onNeedAll={cut ? () => handlers.onNeedVersions(artifact) : null}
        />
      )
  }
}

/** The shown version and its predecessor, 0 for the first version. */
function selectAdjacentVersions(
  versions: readonly Version[],
  selected: Version | null,
): readonly [number, number] {
  if (selected === null) return [0, 1]
  const previous = versions[versions.indexOf(selected) - 1]
  return [previous?.version ?? 0, selected.version]
}

/** Starts editing the newest version, once its whole text is here. */
function EditButton(props: {
  readonly newest: Version
  readonly draft: ArtifactDraft | null
  readonly onBegin: (draft: ArtifactDraft) => void
}) {
  const t = useT()
  const { newest, draft } = props
  const full = useWholeText(readText({ text: '', ref: newest.content }))
  const isLoaded = newest.content.size === 0 || full.state === 'whole'
  const long = newest.content.size > MAX_CHARS
  return (
    <Button
      look="outline"
      icon="edit"
      disabled={draft === null && (!isLoaded || long)}
      title={long ? t('artifact.too_long') : undefined}
      onClick={() => props.onBegin(draft ?? { text: full.text, base: newest.version })}
    >
      {t(draft === null ? 'artifact.edit' : 'artifact.continue_editing')}
    </Button>
  )
}
