import type { Ref } from '@/system/generated/contracts'
import { useT } from './surface'

/** Refs of an envelope, task or item. */
export function RefList({ refs }: { refs: readonly Ref[] }) {
  const t = useT()
  if (refs.length === 0) return null
  return (
    <ul aria-label={t('team.refs')} className="flex flex-wrap gap-1">
      {refs.map((ref) => (
        <li
          key={`${ref.type} ${ref.ref}`}
          className="wrap-any rounded border border-line px-1.5 font-mono text-xs text-ink-soft"
        >
          {ref.type}:{ref.ref}
        </li>
      ))}
    </ul>
  )
}
