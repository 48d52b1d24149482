import type { FileChange } from '@/system/generated/contracts'
import { useT } from '../shared/surface'

/** How many lines were added and removed. Files that are as they were are said to be so, not counted as nothing. */
export function Changed({ changes }: { changes: readonly FileChange[] }) {
  const t = useT()
  if (changes.length === 0) return null
  if (changes.every(isSame)) {
    return <span className="shrink-0 text-sm text-ink-faint">{t('tool.no_change')}</span>
  }
  const added = changes.reduce((sum, change) => sum + (change.added ?? 0), 0)
  const removed = changes.reduce((sum, change) => sum + (change.removed ?? 0), 0)
  return (
    <span className="tabular shrink-0 font-mono text-sm">
      <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
    </span>
  )
}

/** The content after the call is the content before it. */
export function isSame(change: FileChange): boolean {
  const { before = null, after = null } = change
  return change.kind === 'modified' && before !== null && before.hash === after?.hash
}
