import { type KeyboardEvent, useId, useState } from 'react'
import type { NewArtifact } from '@/system/stores/artifact-store'
import type { Refusal } from '@/system/stores/notice-store'
import { RadioGroup } from '@/ui/radio-group'
import { FIELD, Field, FormDialog } from '../shared/form-dialog'
import { useT } from '../shared/surface'
import { LONGEST } from './artifact-editor'

const PLACES = ['file', 'session'] as const

/** A person makes an artifact: a file of the folder, or a text that only the session has. What is typed is the host's. */
export function NewArtifactDialog(props: {
  readonly draft: NewArtifact
  readonly onWrite: (draft: NewArtifact) => void
  readonly onMake: (asked: NewArtifact) => Promise<Refusal | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const { draft } = props
  const [sending, setSending] = useState(false)
  const [unnamed, setUnnamed] = useState(false)
  const [refused, setRefused] = useState<Refusal | null>(null)
  const [problem, told] = [useId(), useId()]
  const file = draft.place === 'file'
  const name = file ? draft.path : draft.title
  const tooLong = draft.text.length > LONGEST
  // Of the whole dialog it is the path that something else has.
  const taken = refused?.code === 'artifact_conflict' && refused.field === 'path'
  const wrong = unnamed || taken
  const write = (change: Partial<NewArtifact>) => props.onWrite({ ...draft, ...change })
  const make = async () => {
    setUnnamed(name.trim() === '')
    if (name.trim() === '' || sending || tooLong) return
    setSending(true)
    const why = await props.onMake({ ...draft, path: draft.path.trim(), title: draft.title.trim() })
    setSending(false)
    setRefused(why)
    if (why === null) props.onDone()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    void make()
  }
  return (
    <FormDialog
      title={t('artifact.new')}
      action={t(sending ? 'artifact.new_making' : 'artifact.new_make')}
      disabled={sending || tooLong}
      refused={taken ? null : refused}
      onSend={() => void make()}
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
          aria-describedby={wrong ? `${problem} ${told}` : told}
          onChange={(event) => {
            setUnnamed(false)
            setRefused(null)
            write(file ? { path: event.target.value } : { title: event.target.value })
          }}
          className={`h-8 ${file ? 'font-mono' : ''} ${FIELD}`}
        />
      </Field>
      {wrong && (
        <p id={problem} role="alert" className="wrap-any text-bad">
          {taken && t('artifact.new_taken', { path: draft.path.trim() })}
          {unnamed && t(file ? 'artifact.new_unnamed' : 'artifact.new_untitled')}
        </p>
      )}
      <p id={told} className="text-sm text-ink-faint">
        {t('artifact.new_kind')}
      </p>
      <div>
        <RadioGroup
          label={t('artifact.new_where')}
          value={draft.place}
          onChange={(place) => {
            setUnnamed(false)
            setRefused(null)
            write({ place })
          }}
          choices={PLACES.map((value) => ({ value, label: t(`artifact.new_where.${value}`) }))}
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
      {file && draft.text === '' && <p className="text-sm text-ink-faint">{t('artifact.new_take_in')}</p>}
      {tooLong && (
        <p role="alert" className="text-bad">
          {t('artifact.too_long')}
        </p>
      )}
    </FormDialog>
  )
}
