import { useRef, useState } from 'react'
import type { AgentRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { useT } from '../shared/surface'
import type { MergeOutcome } from '../shared/team-handlers'

/** Confirms merging a subagent's worktree and shows the outcome. */
export function MergeDialog(props: {
  readonly agent: AgentRow
  readonly onMerge: () => Promise<MergeOutcome | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const { agent } = props
  const close = useRef<HTMLButtonElement>(null)
  const [merging, setMerging] = useState(false)
  const [merged, setMerged] = useState<MergeOutcome | null>(null)
  const title = t('team.merge_title', { agent: agent.name })
  const merge = async () => {
    setMerging(true)
    const outcome = await props.onMerge()
    setMerging(false)
    if (outcome === null) return props.onDone()
    setMerged(outcome)
    close.current?.focus()
  }
  return (
    <Dialog label={title} onClose={props.onDone}>
      <div className="space-y-3 p-4">
        <h2 className="wrap-any text-lg font-semibold">{title}</h2>
        {merged === null ? (
          <p className="text-ink-soft">{t('team.merge_body', { branch: agent.branch })}</p>
        ) : (
          <Outcome merged={merged} />
        )}
        <div className="flex justify-end gap-2">
          <Button ref={close} look="outline" onClick={props.onDone}>
            {t(merged === null ? 'app.cancel' : 'app.close')}
          </Button>
          {merged === null && (
            <Button look="solid" disabled={merging} onClick={() => void merge()}>
              {t(merging ? 'team.merging' : 'team.merge')}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  )
}

function Outcome({ merged }: { merged: MergeOutcome }) {
  const t = useT()
  const conflict = merged.status === 'conflict'
  const files = (conflict ? merged.conflict : merged.files) ?? []
  return (
    <div role="status" className="space-y-1">
      <p className={conflict ? 'font-medium text-bad' : ''}>{t(`team.merge.${merged.status}`)}</p>
      {files.length > 0 && (
        <ul
          aria-label={t(conflict ? 'team.merge.in_conflict' : 'details.changes')}
          className="max-h-60 overflow-y-auto"
        >
          {files.map((path) => (
            <li key={path} className="wrap-any font-mono text-sm">
              {path}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
