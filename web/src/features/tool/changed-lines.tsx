import type { FileChange } from '@/system/generated/contracts'
import type { ToolPart } from '@/system/rows/model'
import { useT } from '../shared/surface'

/** Tools that are for changing files: a call of one that changed none says so. */
const FOR_CHANGES: ReadonlySet<string> = new Set(['Write', 'Edit'])

/** What a call changed, in lines. */
export function Changed({ part }: { part: ToolPart }) {
  const t = useT()
  if (part.changes.length > 0) return <Lines changes={part.changes} />
  if (part.state !== 'output-available' || !FOR_CHANGES.has(part.tool)) return null
  return <span className="shrink-0 text-sm text-ink-faint">{t('tool.no_change')}</span>
}

/** How many lines were added and removed. */
export function Lines({ changes }: { changes: readonly FileChange[] }) {
  const added = changes.reduce((sum, change) => sum + (change.added ?? 0), 0)
  const removed = changes.reduce((sum, change) => sum + (change.removed ?? 0), 0)
  return (
    <span className="tabular shrink-0 font-mono text-sm">
      <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
    </span>
  )
}
