import { memo, useState } from 'react'
import type { ArtifactPart, ArtifactRow } from '@/system/rows/model'
import { Icon } from '@/ui/icon'
import { Badge } from '@/ui/marks'
import { useArtifacts, useT } from '../shared/surface'
import { KIND_ICONS, STATUS_TONES } from './artifact-kinds'

/** An artifact version from a turn. Only the artifact workspace shows its content (UI-13). */
export const ArtifactCard = memo(({ part }: { part: ArtifactPart }) => {
  const t = useT()
  const { get, onOpen } = useArtifacts()
  const row = get(part.artifactId)
  return (
    <button
      type="button"
      onClick={() => onOpen(part.artifactId, part.version)}
      className="flex min-h-9 w-full items-center gap-2.5 rounded-lg border border-line bg-surface px-3 text-left hover:border-line-strong hover:bg-hover"
    >
      <Icon
        name={row === null ? 'file' : KIND_ICONS[row.artifactKind]}
        size={14}
        className="text-ink-faint"
      />
      <span className="min-w-0 flex-1 truncate font-medium" title={part.path || part.title}>
        {part.title}
      </span>
      <LineCounts added={part.added} removed={part.removed} />
      <span className="tabular text-sm text-ink-faint">
        {t('artifact.version', { version: part.version })}
      </span>
      {row !== null && row.status !== 'saved' && <ArtifactState row={row} />}
      {row !== null && row.status === 'saved' && row.version > part.version && (
        <Badge>{t('artifact.newer', { version: row.version })}</Badge>
      )}
    </button>
  )
})

export function LineCounts({ added, removed }: { added: number; removed: number }) {
  const t = useT()
  if (added === 0 && removed === 0) return null
  return (
    <span className="tabular shrink-0 font-mono text-sm">
      <span className="sr-only">{t.count('artifact.lines', added, { removed })}</span>
      <span aria-hidden="true">
        <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
      </span>
    </span>
  )
}

export function ArtifactState({ row }: { row: ArtifactRow }) {
  const t = useT()
  return <Badge tone={STATUS_TONES[row.status]}>{t(`artifact.status.${row.status}`)}</Badge>
}

/** Maximum number of cards before the rest is folded. */
const MAX_SHOWN = 4

/** The artifacts of a completed turn, each with its newest version of that turn. */
export function ArtifactCards({ parts }: { parts: readonly ArtifactPart[] }) {
  const t = useT()
  const [all, setAll] = useState(false)
  const cut = !all && parts.length > MAX_SHOWN + 1
  return (
    <ul aria-label={t('artifact.of_turn')} className="space-y-1 py-1">
      {(cut ? parts.slice(0, MAX_SHOWN) : parts).map((part) => (
        <li key={part.artifactId}>
          <ArtifactCard part={part} />
        </li>
      ))}
      {cut && (
        <li>
          <button
            type="button"
            onClick={() => setAll(true)}
            className="rounded px-1 text-sm font-medium text-accent hover:underline"
          >
            {t.count('artifact.more', parts.length - MAX_SHOWN)}
          </button>
        </li>
      )}
    </ul>
  )
}
