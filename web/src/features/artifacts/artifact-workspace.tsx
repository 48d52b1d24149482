import { useCallback, useEffect, useRef, useState } from 'react'
import { type ArtifactRow, asText, type Version } from '@/system/rows/model'
import type { ArtifactDraft, DiffRead } from '@/system/workbench/artifact-desk'
import type { Refused } from '@/system/workbench/notices'
import { Button, IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Badge } from '@/ui/marks'
import { Menu } from '@/ui/menu'
import { RadioGroup } from '@/ui/radio-group'
import { RefusedHere } from '../connection/notices'
import { useT, useWholeText } from '../shared/surface'
import { State } from './artifact-card'
import { Compare } from './compare'
import { DeleteArtifact } from './delete-artifact'
import { Editor, LONGEST } from './editor'
import { Exports } from './exports'
import type { ArtifactHandlers, ExportForm } from './handlers'
import { Preview } from './preview'
import { Unsaved } from './unsaved'
import { Versions } from './versions'
import { allVersions, isMarkdown, isText, KIND_ICONS } from './words'

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
  readonly refused: Refused | null
  readonly diffOf: (from: number, to: number) => DiffRead | null
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
  const shown = versions.find((one) => one.version === props.asked) ?? newest
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
      <Head {...props} shown={shown} onDelete={() => setDeleting(true)} />
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
        {!editor && <Exports artifact={artifact} addressOf={handlers.addressOf} />}
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

function Head(
  props: ArtifactWorkspaceProps & { readonly shown: Version | null; readonly onDelete: () => void },
) {
  const t = useT()
  const { artifact, handlers, shown } = props
  const forms: readonly ExportForm[] = isMarkdown(artifact) ? ['file', 'html', 'diff'] : ['file', 'diff']
  const version = shown?.version ?? artifact.version
  const back = useRef<HTMLButtonElement>(null)
  // The entry that led here may be gone from the page, and the focus with it.
  useEffect(() => {
    if (document.activeElement === document.body) back.current?.focus()
  }, [])
  return (
    <header className="flex shrink-0 items-start gap-2 py-2 pr-2 pl-2">
      <IconButton ref={back} icon="arrowLeft" label={t('artifact.back')} onClick={handlers.onClose} />
      <div className="min-w-0 flex-1 pt-1">
        <h2 className="flex items-center gap-2 font-semibold">
          <Icon name={KIND_ICONS[artifact.artifactKind]} size={14} className="text-ink-faint" />
          <span className="min-w-0 truncate" title={artifact.path || artifact.title}>
            {artifact.title}
          </span>
        </h2>
        <p className="flex flex-wrap items-center gap-x-2 text-sm text-ink-faint">
          <span className="tabular">{t('artifact.version', { version })}</span>
          {version !== artifact.version && (
            <Badge>{t('artifact.newer', { version: artifact.version })}</Badge>
          )}
          <span>{t(`artifact.kind.${artifact.artifactKind}`)}</span>
          {artifact.path !== '' && <span className="wrap-any font-mono">{artifact.path}</span>}
        </p>
      </div>
      <span className="pt-1.5">
        <State row={artifact} />
      </span>
      <Menu
        trigger={
          <IconButton
            aria-haspopup="menu"
            icon="more"
            label={t('artifact.menu', { title: artifact.title })}
          />
        }
        entries={[
          ...forms.map((form) => ({
            id: form,
            label: t(`artifact.export.${form}`),
            onSelect: () => handlers.onExport(artifact, form, version),
          })),
          ...(artifact.status === 'deleted'
            ? []
            : [{ id: 'delete', label: t('artifact.delete'), onSelect: props.onDelete }]),
        ]}
      />
    </header>
  )
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
