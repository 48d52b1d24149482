import { useCallback, useState } from 'react'
import { type ArtifactRow, asText, type Version } from '@/system/rows/model'
import type { ArtifactDraft, DiffRead } from '@/system/stores/artifact-store'
import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { RadioGroup } from '@/ui/radio-group'
import { RefusedHere } from '../shared/refusal'
import { useT, useWholeText } from '../shared/surface'
import { Editor, LONGEST } from './artifact-editor'
import type { ArtifactHandlers } from './artifact-handlers'
import { ArtifactHead } from './artifact-head'
import { allVersions, isText } from './artifact-kinds'
import { DeleteArtifact } from './delete-artifact'
import { Exports } from './export-list'
import { LeftBehind } from './orphaned-draft'
import { Unsaved } from './unsaved-draft'
import { Compare } from './version-compare'
import { Versions } from './version-list'
import { Preview } from './version-preview'

const SIDES = ['preview', 'compare', 'versions'] as const
type Look = (typeof SIDES)[number]

export interface ArtifactWorkspaceProps {
  readonly artifact: ArtifactRow
  /** Versions that were read beside those of the row; null where none were. */
  readonly read: readonly Version[] | null
  /** The version that was asked for; null is the newest. */
  readonly asked: number | null
  readonly draft: ArtifactDraft | null
  readonly busy: boolean
  readonly refused: Refusal | null
  readonly diffOf: (from: number, to: number) => DiffRead | null
  /** The artifact that is at its place now, where this one is deleted. */
  readonly successor: ArtifactRow | null
  readonly handlers: ArtifactHandlers
}

/** One artifact: its versions, what is in them, what differs, and a text in the making. */
export default function ArtifactWorkspace(props: ArtifactWorkspaceProps) {
  const t = useT()
  const { artifact, draft, handlers } = props
  const [look, setLook] = useState<Look>('preview')
  const [pair, setPair] = useState<readonly [number, number] | null>(null)
  // A text in the making is what the person was at: it is open when they come back.
  const [editing, setEditing] = useState(draft !== null)
  const [deleting, setDeleting] = useState(false)
  const versions = allVersions(artifact.versions, props.read)
  const newest = versions.at(-1) ?? null
  const shown = versions.find((version) => version.version === props.asked) ?? newest
  const compare = (a: number, b: number) => {
    setPair([a, b])
    setLook('compare')
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
        shown={shown}
        onDelete={() => setDeleting(true)}
      />
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 pb-2">
        <RadioGroup
          label={t('artifact.sides')}
          value={editor ? null : look}
          onChange={(side) => {
            setLook(side)
            setEditing(false)
          }}
          choices={SIDES.map((value) => ({ value, label: t(`artifact.side.${value}`) }))}
        />
        <span className="flex-1" />
        {!deleted && isText(artifact) && newest !== null && !editor && (
          <EditButton key={newest.content.hash} newest={newest} draft={draft} onBegin={begin} />
        )}
      </div>
      <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-4 py-3">
        {!editor && <RefusedHere refused={props.refused} />}
        {deleted && (draft !== null || artifact.draft !== null) && (
          <LeftBehind
            artifact={artifact}
            draft={draft}
            successor={props.successor}
            onGoOn={(successor, text) => handlers.onGoOn(artifact, successor, text)}
            onMake={(asked) => handlers.onMake(artifact, asked)}
            onDiscard={() => handlers.onDraft(artifact, null)}
          />
        )}
        {draft === null && (
          <Unsaved
            artifact={artifact}
            busy={props.busy}
            onTakeUp={begin}
            onRetry={(base) => handlers.onRetry(artifact, base)}
          />
        )}
        {editor ? (
          <Editor
            artifact={artifact}
            newest={newest}
            draft={draft}
            saving={props.busy}
            refused={props.refused}
            onDraft={(next) => {
              handlers.onDraft(artifact, next)
              if (next === null) setEditing(false)
            }}
            onSave={() => {
              // What is saved is what is looked at next.
              setLook('preview')
              handlers.onSave(artifact)
            }}
            onCompare={compare}
          />
        ) : (
          <Side
            {...props}
            look={look}
            shown={shown}
            versions={versions}
            pair={pair}
            onCompare={compare}
            onShow={(version) => {
              handlers.onOpen(artifact.artifactId, version)
              setLook('preview')
            }}
          />
        )}
        {!editor && (
          <Exports
            label={t('artifact.exports')}
            exports={artifact.exports.map((made) => ({ artifactId: artifact.artifactId, made }))}
            onDownload={handlers.onDownload}
            onMakeAgain={handlers.onMakeAgain}
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

/** The side of the artifact that is looked at. */
function Side(
  props: ArtifactWorkspaceProps & {
    readonly look: Look
    readonly shown: Version | null
    readonly versions: readonly Version[]
    readonly pair: readonly [number, number] | null
    readonly onCompare: (from: number, to: number) => void
    readonly onShow: (version: number) => void
  },
) {
  const t = useT()
  const { artifact, shown, versions, handlers } = props
  const { onNeedDiff } = handlers
  const needDiff = useCallback((a: number, b: number) => onNeedDiff(artifact, a, b), [onNeedDiff, artifact])
  if (shown === null) return <p className="text-ink-faint">{t('app.unknown')}</p>
  const [from, to] = props.pair ?? before(versions, shown)
  const cut = versions[0] !== undefined && versions[0].version > 1
  switch (props.look) {
    case 'preview':
      return <Preview artifact={artifact} version={shown} />
    case 'compare':
      return (
        <Compare
          title={artifact.title}
          versions={versions}
          from={from}
          to={to}
          read={props.diffOf(from, to)}
          onCompare={props.onCompare}
          onNeedDiff={needDiff}
        />
      )
    case 'versions':
      return (
        <Versions
          artifact={artifact}
          versions={versions}
          shown={shown.version}
          onShow={props.onShow}
          onCompare={props.onCompare}
          onRestore={(version) => handlers.onRestore(artifact, version)}
          onGoToTurn={handlers.onGoToTurn}
          onNeedAll={cut ? () => handlers.onNeedVersions(artifact) : null}
        />
      )
  }
}

/** The version shown beside the one before it; of the first one, all of it. */
function before(versions: readonly Version[], shown: Version | null): readonly [number, number] {
  if (shown === null) return [0, 1]
  const former = versions[versions.indexOf(shown) - 1]
  return [former?.version ?? 0, shown.version]
}

/** Editing begins from the newest version, once all of it is here. */
function EditButton(props: {
  readonly newest: Version
  readonly draft: ArtifactDraft | null
  readonly onBegin: (draft: ArtifactDraft) => void
}) {
  const t = useT()
  const { newest, draft } = props
  const full = useWholeText(asText({ text: '', ref: newest.content }))
  const here = newest.content.size === 0 || full.state === 'whole'
  const long = newest.content.size > LONGEST
  return (
    <Button
      look="outline"
      icon="edit"
      disabled={draft === null && (!here || long)}
      title={long ? t('artifact.too_long') : undefined}
      onClick={() => props.onBegin(draft ?? { text: full.text, base: newest.version })}
    >
      {t(draft === null ? 'artifact.edit' : 'artifact.go_on')}
    </Button>
  )
}
