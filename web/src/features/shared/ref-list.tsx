import type { Ref } from '@/system/generated/contracts'
import { useT } from './surface'

/** Pointers that travel instead of content. */
export function Refs({ refs }: { refs: readonly Ref[] }) {
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
