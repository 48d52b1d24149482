import { useState } from 'react'
import { type ArtifactRow, asText } from '@/system/rows/model'
import type { ArtifactDraft, NewArtifact } from '@/system/stores/artifact-store'
import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { CodeBlock } from '@/ui/code-block'
import { LoadMore } from '../shared/load-more'
import { useT, useWholeText } from '../shared/surface'
import { NewArtifactDialog } from './new-artifact-dialog'

/** What a person wrote for an artifact that is deleted by now: it goes on in the one that took its place, or in a new one. */
export function LeftBehind(props: {
  readonly artifact: ArtifactRow
  /** The text in the making; null where only the record has one. */
  readonly draft: ArtifactDraft | null
  /** The artifact that is at its place now. */
  readonly successor: ArtifactRow | null
  readonly onGoOn: (successor: ArtifactRow, text: string) => void
  readonly onMake: (asked: NewArtifact) => Promise<Refusal | null>
  readonly onDiscard: () => void
}) {
  const t = useT()
  const { artifact, draft, successor } = props
  const [making, setMaking] = useState<NewArtifact | null>(null)
  const kept = useWholeText(asText({ text: '', ref: draft === null ? artifact.draft : null }))
  const text = draft?.text ?? kept.text
  const whole = draft !== null || kept.state === 'whole'
  const label = t('artifact.left_behind', { title: artifact.title })
  const begin = () =>
    setMaking({
      place: artifact.path === '' ? 'session' : 'file',
      path: artifact.path,
      title: artifact.path === '' ? artifact.title : '',
      text,
    })
  return (
    <section
      role="alert"
      aria-label={t('artifact.status.deleted')}
      className="space-y-1.5 rounded-md border border-warn/60 bg-warn-soft px-3 py-2"
    >
      <p className="font-semibold">{label}</p>
      <CodeBlock text={text} label={label} />
      {draft === null && <LoadMore full={kept} />}
      <div className="flex flex-wrap gap-2">
        {successor !== null && (
          <Button look="outline" disabled={!whole} onClick={() => props.onGoOn(successor, text)}>
            {t('artifact.go_on_in', { title: successor.title })}
          </Button>
        )}
        <Button look="outline" disabled={!whole} onClick={begin}>
          {t('artifact.make_new')}
        </Button>
        {draft !== null && <Button onClick={props.onDiscard}>{t('artifact.discard')}</Button>}
      </div>
      {making !== null && (
        <NewArtifactDialog
          draft={making}
          onWrite={setMaking}
          onMake={props.onMake}
          onDone={() => setMaking(null)}
        />
      )}
    </section>
  )
}
