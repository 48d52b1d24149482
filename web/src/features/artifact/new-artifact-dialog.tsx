import { type KeyboardEvent, useId, useState } from 'react'
import type { NewArtifact } from '@/system/stores/artifact-store'
import type { Refusal } from '@/system/stores/notice-store'
import { RadioGroup } from '@/ui/radio-group'
import { FIELD, Field, FormDialog } from '../shared/form-dialog'
import { useT } from '../shared/surface'
import { MAX_CHARS } from './artifact-editor'

const PLACES = ['file', 'session'] as const

/**
 * Creates an artifact: a file in the folder, or a text in the session. The host stores the draft.
 */
export function NewArtifactDialog(props: {
  readonly draft: NewArtifact
  readonly onWrite: (draft: NewArtifact) => void
  readonly onCreate: (draft: NewArtifact) => Promise<Refusal | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const { draft } = props
  const [sending, setSending] = useState(false)
  const [unnamed, setUnnamed] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const [problem, pathProblemId] = [useId(), useId()]
  const file = draft.place === 'file'
  const name = file ? draft.path : draft.title
  const tooLong = draft.text.length > MAX_CHARS
  // The conflict is about the path field.
  const isPathTaken = refusal?.code === 'artifact_conflict' && refusal.field === 'path'
  const wrong = unnamed || isPathTaken
  const write = (change: Partial<NewArtifact>) => props.onWrite({ ...draft, ...change })
  const create = async () => {
    setUnnamed(name.trim() === '')
    if (name.trim() === '' || sending || tooLong) return
    setSending(true)
    const refusal = await props.onCreate({ ...draft, path: draft.path.trim(), title: draft.title.trim() })
    setSending(false)
    setRefusal(refusal)
    if (refusal === null) props.onDone()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    void create()
  }
  return (
    <FormDialog
      title={t('artifact.new')}
      action={t(sending ? 'artifact.creating' : 'artifact.create')}
      disabled={sending || tooLong}
      refusal={isPathTaken ? null : refusal}
      onSend={() => void create()}
      onDone={props.onDone}
      className="flex max-h-[80vh] flex-col gap-3 overflow-y-auto"
      beside={<span className="min-w-0 flex-1 text-sm text-ink-faint">{t('artifact.new_in_browser')}</span>}
    >
      <Field label={t(file ? 'artifact.new_path' : 'artifact.new_title')}>
        <input
          value={name}
          maxLength={file ? 1000 : 200}
          spellCheck={!file}
          aria-invalid={wrong}
          aria-describedby={wrong ? `${problem} ${pathProblemId}` : pathProblemId}
          onChange={(event) => {
            setUnnamed(false)
            setRefusal(null)
            write(file ? { path: event.target.value } : { title: event.target.value })
          }}
          className={`h-8 ${file ? 'font-mono' : ''} ${FIELD}`}
        />
      </Field>
      {wrong && (
        <p id={problem} role="alert" className="wrap-any text-bad">
          {isPathTaken && t('artifact.new_exists', { path: draft.path.trim() })}
          {unnamed && t(file ? 'artifact.new_unnamed' : 'artifact.new_untitled')}
        </p>
      )}
      <p id={pathProblemId} className="text-sm text-ink-faint">
        {t('artifact.new_kind')}
      </p>
      <div>
        <RadioGroup
          label={t('artifact.new_location')}
          value={draft.place}
          onChange={(place) => {
            setUnnamed(false)
            setRefusal(null)
            write({ place })
          }}
          choices={PLACES.map((value) => ({ value, label: t(`artifact.new_location.${value}`) }))}
        />
      </div>
      <Field label={t('artifact.new_text')}>
        <textarea
          value={draft.text}
          rows={8}
          aria-keyshortcuts="Control+S Meta+S"
          onChange={(event) => write({ text: event.target.value })}
          onKeyDown={onKeyDown}
          className={`field-sizing-content max-h-[40vh] min-h-40 resize-none py-1.5 font-mono text-sm ${FIELD}`}
        />
      </Field>
      {file && draft.text === '' && <p className="text-sm text-ink-faint">{t('artifact.new_existing')}</p>}
      {tooLong && (
        <p role="alert" className="text-bad">
          {t('artifact.too_long')}
        </p>
      )}
    </FormDialog>
  )
}
