import { stripTerminalCodes } from '@/system/format/ansi'
import type { FileChange } from '@/system/generated/contracts'
import { readText, type Text, type ToolPart } from '@/system/rows/model'
import { DiffView } from '@/ui/diff/diff-view'
import { Icon } from '@/ui/icon'
import { LoadMore } from '../shared/load-more'
import { useOpened } from '../shared/opened-rows'
import { useFullText, useT } from '../shared/surface'

/** Files that a call changed, each with its diff. A single file is open. */
export function FileChanges({ call, changes }: { call: string; changes: readonly FileChange[] }) {
  const t = useT()
  return (
    <div>
      <p className="pb-0.5 text-sm font-medium text-ink-faint">{t('tool.changes')}</p>
      <ul className="space-y-1">
        {changes.map((change) => (
          <li key={change.path}>
            <Change call={call} change={change} startsOpen={changes.length === 1} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function Change(props: { readonly call: string; readonly change: FileChange; readonly startsOpen: boolean }) {
  const t = useT()
  const { call, change, startsOpen } = props
  const [open, setOpen] = useOpened(`${call} ${change.path}`, startsOpen)
  const diff = change.diff ?? null
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex min-h-6 w-full items-center gap-2 rounded text-left hover:bg-hover"
      >
        <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} className="text-ink-faint" />
        <span className="wrap-any font-mono text-sm">{stripTerminalCodes(change.path)}</span>
        <span className="text-sm text-ink-faint">{t(`tool.change.${change.kind}`)}</span>
        <span className="ml-auto">
          <LineCounts changes={[change]} />
        </span>
      </button>
      {open &&
        (diff === null ? (
          <p className="pl-5 text-ink-faint">{t('tool.no_diff')}</p>
        ) : (
          <ChangeDiff diff={readText(diff)} path={change.path} />
        ))}
    </>
  )
}

function ChangeDiff({ diff, path }: { diff: Text; path: string }) {
  const t = useT()
  const full = useFullText(diff)
  return (
    <div className="pt-1 pl-5">
      <DiffView diff={full.text} label={t('diff.label', { path })} />
      <LoadMore full={full} />
    </div>
  )
}

/** Tools that change files. A call without changes is shown as such. */
export const FILE_TOOLS: ReadonlySet<string> = new Set(['Write', 'Edit'])
/** The number of lines that a call changed. */
export function ChangedLines({ part }: { part: ToolPart }) {
  const t = useT()
  if (part.changes.length > 0) return <LineCounts changes={part.changes} />
  if (part.state !== 'output-available' || !FILE_TOOLS.has(part.tool)) return null
  return <span className="shrink-0 text-sm text-ink-faint">{t('tool.no_change')}</span>
}

/** Added and removed lines. */
export function LineCounts({ changes }: { changes: readonly FileChange[] }) {
  const added = changes.reduce((sum, change) => sum + (change.added ?? 0), 0)
  const removed = changes.reduce((sum, change) => sum + (change.removed ?? 0), 0)
  return (
    <span className="tabular shrink-0 font-mono text-sm">
      <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
    </span>
  )
}
