import { useState } from 'react'
import { type ArtifactRow, readText } from '@/system/rows/model'
import type { ArtifactDraft, NewArtifact } from '@/system/stores/artifact-store'
import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { CodeBlock } from '@/ui/code-block'
import { LoadMore } from '../shared/load-more'
import { useT, useWholeText } from '../shared/surface'
import { NewArtifactDialog } from './new-artifact-dialog'

/**
 * The draft of a deleted artifact. It can continue in the artifact's successor or in a new
 * artifact.
 */
export function OrphanedDraft(props: {
  readonly artifact: ArtifactRow
  /** The local draft; null if only the row has one. */
  readonly draft: ArtifactDraft | null
  /** The artifact that replaced the deleted one. */
  readonly successor: ArtifactRow | null
  readonly onContinue: (successor: ArtifactRow, text: string) => void
  readonly onCreate: (draft: NewArtifact) => Promise<Refusal | null>
  readonly onDiscard: () => void
}) {
  const t = useT()
  const { artifact, draft, successor } = props
  const [newDraft, setNewDraft] = useState<NewArtifact | null>(null)
  const recorded = useWholeText(readText({ text: '', ref: draft === null ? artifact.draft : null }))
  const text = draft?.text ?? recorded.text
  const whole = draft !== null || recorded.state === 'whole'
  const label = t('artifact.orphaned_draft', { title: artifact.title })
  const begin = () =>
    setNewDraft({
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
      {draft === null && <LoadMore full={recorded} />}
      <div className="flex flex-wrap gap-2">
        {successor !== null && (
          <Button look="outline" disabled={!whole} onClick={() => props.onContinue(successor, text)}>
            {t('artifact.continue_in', { title: successor.title })}
          </Button>
        )}
        <Button look="outline" disabled={!whole} onClick={begin}>
          {t('artifact.create_from_draft')}
        </Button>
        {draft !== null && <Button onClick={props.onDiscard}>{t('artifact.discard')}</Button>}
      </div>
      {newDraft !== null && (
        <NewArtifactDialog
          draft={newDraft}
          onWrite={setNewDraft}
          onCreate={props.onCreate}
          onDone={() => setNewDraft(null)}
        />
      )}
    </section>
  )
}
