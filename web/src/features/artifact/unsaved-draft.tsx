import { type ArtifactRow, readText } from '@/system/rows/model'
import type { ArtifactDraft } from '@/system/stores/artifact-store'
import { Button } from '@/ui/button'
import { CodeBlock } from '@/ui/code-block'
import { describeHint } from '../shared/code-texts'
import { LoadMore } from '../shared/load-more'
import { useT, useWholeText } from '../shared/surface'

/** A recorded text that is in no version, because saving failed or met a newer version (UI-13). */
export function UnsavedDraft(props: {
  readonly artifact: ArtifactRow
  readonly busy: boolean
  readonly onTakeUp: (draft: ArtifactDraft) => void
  readonly onRetry: (baseVersion: number) => void
}) {
  const t = useT()
  const { artifact } = props
  const conflict = artifact.status === 'conflict'
  const failed = artifact.status === 'failed'
  if (!conflict && !failed) return null
  const hint = describeHint(t, artifact.code, '')
  // Without a newer version, the file itself is in the way.
  const hasNewerVersion = artifact.draft === null || artifact.version !== artifact.draftBase
  const title = conflict
    ? t(hasNewerVersion ? 'artifact.conflict' : 'artifact.file_changed', { version: artifact.version })
    : (t.find(`artifact.failed.${artifact.code}`) ?? t.find(`code.${artifact.code}`) ?? t('artifact.failed'))
  return (
    <section
      aria-label={t(`artifact.status.${artifact.status}`)}
      className={`space-y-1.5 rounded-md border px-3 py-2 ${conflict ? 'border-warn/60 bg-warn-soft' : 'border-bad/40 bg-bad-soft'}`}
    >
      <p className={`font-semibold ${failed ? 'text-bad' : ''}`}>{title}</p>
      {failed && artifact.message && <p className="wrap-any text-ink-soft">{artifact.message}</p>}
      {hint && <p className="wrap-any text-ink-soft">{hint}</p>}
      {artifact.draft !== null && (
        <RecordedText
          artifact={artifact}
          content={artifact.draft}
          busy={props.busy}
          onTakeUp={props.onTakeUp}
          onRetry={props.onRetry}
        />
      )}
    </section>
  )
}

function RecordedText(props: {
  readonly artifact: ArtifactRow
  readonly content: NonNullable<ArtifactRow['draft']>
  readonly busy: boolean
  readonly onTakeUp: (draft: ArtifactDraft) => void
  readonly onRetry: (baseVersion: number) => void
}) {
  const t = useT()
  const { artifact } = props
  const full = useWholeText(readText({ text: '', ref: props.content }))
  const label = t('artifact.unsaved_changes', { version: artifact.draftBase })
  return (
    <>
      <p className="text-ink-soft">{label}</p>
      <CodeBlock text={full.text} label={label} />
      <LoadMore full={full} />
      <div className="flex flex-wrap gap-2">
        <Button
          look="outline"
          disabled={full.state !== 'whole'}
          onClick={() => props.onTakeUp({ text: full.text, base: artifact.draftBase })}
        >
          {t('artifact.continue_draft')}
        </Button>
        <Button look="outline" disabled={props.busy} onClick={() => props.onRetry(artifact.version)}>
          {t(artifact.status === 'conflict' ? 'artifact.save_draft' : 'artifact.retry', {
            version: artifact.version + 1,
          })}
        </Button>
      </div>
    </>
  )
}
