import { type KeyboardEvent, useState } from 'react'
import { type ArtifactRow, readText, type Version } from '@/system/rows/model'
import type { ArtifactDraft } from '@/system/stores/artifact-store'
import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { CodeBlock } from '@/ui/code-block'
import { Dialog } from '@/ui/dialog'
import { Disclosure } from '@/ui/disclosure'
import { LoadMore } from '../shared/load-more'
import { RefusalAlert } from '../shared/refusal'
import { useT, useWholeText } from '../shared/surface'

/** Maximum length of a text, in characters. */
export const MAX_CHARS = 600_000

/**
 * Editor of a draft. It is saved against its base version. If a newer version exists, both are shown
 * until the person decides.
 */
export function ArtifactEditor(props: {
  readonly artifact: ArtifactRow
  readonly newest: Version | null
  readonly draft: ArtifactDraft
  readonly saving: boolean
  readonly refusal: Refusal | null
  readonly onDraft: (draft: ArtifactDraft | null) => void
  readonly onSave: () => void
  readonly onCompare: (from: number, to: number) => void
}) {
  const t = useT()
  const { artifact, draft, saving } = props
  const [asking, setAsking] = useState(false)
  const behind = artifact.version > draft.base
  const tooLong = draft.text.length > MAX_CHARS
  const save = () => {
    if (saving || tooLong) return
    if (behind) props.onDraft({ ...draft, base: artifact.version })
    props.onSave()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    // Overwriting a newer version is a separate choice.
    if (!behind) save()
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2">
      {behind && <NewerVersion {...props} />}
      {!(behind && props.refusal?.code === 'artifact_conflict') && <RefusalAlert refusal={props.refusal} />}
      <textarea
        aria-label={t('artifact.edit_label', { title: artifact.title })}
        aria-keyshortcuts="Control+S Meta+S"
        // biome-ignore lint/a11y/noAutofocus: the person chose to edit
        autoFocus
        spellCheck={artifact.artifactKind === 'document'}
        value={draft.text}
        onChange={(event) => props.onDraft({ text: event.target.value, base: draft.base })}
        onKeyDown={onKeyDown}
        className="min-h-64 flex-1 resize-none rounded-md border border-line-strong bg-paper px-2.5 py-2 font-mono text-sm whitespace-pre-wrap"
      />
      {tooLong && (
        <p role="alert" className="text-bad">
          {t('artifact.too_long')}
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <span className="tabular min-w-0 flex-1 text-sm text-ink-faint">
          {t(draft.base === 0 ? 'artifact.draft_new' : 'artifact.draft_from', { version: draft.base })}
        </span>
        <Button onClick={() => setAsking(true)}>{t('artifact.discard')}</Button>
        <Button look="solid" disabled={saving || tooLong} onClick={save}>
          {saving
            ? t('artifact.saving')
            : t(behind ? 'artifact.save_over' : 'artifact.save', { version: artifact.version + 1 })}
        </Button>
      </div>
      {asking && (
        <Dialog label={t('artifact.discard_title')} onClose={() => setAsking(false)}>
          <div className="space-y-3 p-4">
            <h2 className="text-lg font-semibold">{t('artifact.discard_title')}</h2>
            <p className="text-ink-soft">{t('artifact.discard_body', { version: artifact.version })}</p>
            <div className="flex justify-end gap-2">
              <Button look="outline" onClick={() => setAsking(false)}>
                {t('app.cancel')}
              </Button>
              <Button look="danger" onClick={() => props.onDraft(null)}>
                {t('artifact.discard')}
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </div>
  )
}

/** The newer version beside the draft; neither is lost (CTX-04). */
function NewerVersion(props: {
  readonly artifact: ArtifactRow
  readonly newest: Version | null
  readonly draft: ArtifactDraft
  readonly onCompare: (from: number, to: number) => void
}) {
  const t = useT()
  const { artifact, draft, newest } = props
  return (
    <section
      role="alert"
      aria-label={t('artifact.status.conflict')}
      className="space-y-1 rounded-md border border-warn/60 bg-warn-soft px-3 py-2"
    >
      <p className="font-semibold">{t('artifact.conflict', { version: artifact.version })}</p>
      <p className="text-ink-soft">
        {t(draft.base === 0 ? 'artifact.conflict_other' : 'artifact.conflict_help', { base: draft.base })}
      </p>
      <div className="-ml-1 flex flex-wrap items-center gap-2">
        <Button look="outline" onClick={() => props.onCompare(draft.base, artifact.version)}>
          {t('artifact.show_theirs', { version: artifact.version })}
        </Button>
      </div>
      {newest !== null && (
        <Disclosure title={t('artifact.their_text', { version: artifact.version })}>
          <Theirs version={newest} title={t('artifact.their_text', { version: artifact.version })} />
        </Disclosure>
      )}
    </section>
  )
}

function Theirs({ version, title }: { version: Version; title: string }) {
  const full = useWholeText(readText({ text: '', ref: version.content }))
  return (
    <>
      <CodeBlock text={full.text} label={title} />
      <LoadMore full={full} />
    </>
  )
}
