import { memo } from 'react'
import { stripTerminalCodes } from '@/system/format/ansi'
import { stripToolName } from '@/system/format/arguments'
import { formatCount, formatDuration } from '@/system/format/numbers'
import type { ToolPart } from '@/system/rows/model'
import { wasRejected } from '@/system/selectors/activity'
import { Icon, type IconName } from '@/ui/icon'
import { Elapsed } from '../shared/elapsed'
import { useOpened } from '../shared/opened-rows'
import { useNames, useT } from '../shared/surface'
import { chooseTone, describeCallState, describeResult } from './call-state'
import { ChangedLines } from './file-changes'
import { LiveOutput } from './live-output'
import { describeTeamCall } from './team-call'
import { ToolDetail } from './tool-detail'

const TOOL_ICONS: Readonly<Record<string, IconName>> = {
  Read: 'file',
  Write: 'edit',
  Edit: 'edit',
  Glob: 'search',
  Grep: 'search',
  Bash: 'terminal',
  spawn_subagent: 'plus',
  send_handoff: 'arrowRight',
  wait_subagents: 'clock',
  create_task: 'board',
  update_task: 'board',
  Finalize: 'check',
}

/** A tool call in all its states: open while it is running, one row when done. */
export const ToolRow = memo(({ part, waiting }: { part: ToolPart; waiting: boolean }) => {
  const t = useT()
  const names = useNames()
  const message = describeResult(t, part)
  const teamCall = describeTeamCall(t, part, names)
  const summary = teamCall?.message ?? stripToolName(part.tool, part.summary)
  const [open, setOpen] = useOpened(part.key)
  const refused = wasRejected(part)
  const failed = part.state === 'output-error' && !refused
  const active = part.state === 'running' || part.state === 'progress'
  const writing = part.state === 'input-streaming'
  const state = describeCallState(t, part, waiting)
  // A final report may be the whole answer, so it is not truncated.
  const fit = part.tool === 'Finalize' ? 'wrap-any' : 'truncate'
  return (
    <div aria-busy={active || writing}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex min-h-7 w-full items-center gap-2 rounded text-left hover:bg-hover"
      >
        <Icon
          name={TOOL_ICONS[part.tool] ?? 'tool'}
          size={14}
          className={active ? 'animate-breathe text-accent' : failed ? 'text-bad' : 'text-ink-faint'}
        />
        <span className="max-w-[60%] truncate font-medium">{teamCall?.action ?? part.tool}</span>
        <span
          className={`min-w-0 flex-1 text-ink-soft ${fit} ${teamCall === null ? 'font-mono text-sm' : ''}`}
        >
          {stripTerminalCodes(summary)}
        </span>
        <ChangedLines part={part} />
        {active && part.done !== null && <CallProgress done={part.done} total={part.total} />}
        <span className={`shrink-0 text-sm ${chooseTone(part, waiting)}`}>{state}</span>
        <span className="min-w-12 shrink-0 text-right text-sm whitespace-nowrap text-ink-faint">
          {active && part.startedAt > 0 && <Elapsed since={part.startedAt} />}
          {!active && part.durationMs > 0 && (
            <span className="tabular">{formatDuration(part.durationMs, t.locale)}</span>
          )}
        </span>
        <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} className="text-ink-faint" />
      </button>
      {(failed || refused) && !open && message && part.code !== 'person_denied' && (
        <p className={`wrap-any line-clamp-3 pb-1 pl-[22px] ${failed ? 'text-bad' : 'text-ink-soft'}`}>
          {message}
        </p>
      )}
      {open ? <ToolDetail part={part} /> : <LiveOutput part={part} />}
    </div>
  )
})

/** The progress that a tool reported; without a total, only the completed part. */
function CallProgress({ done, total }: { done: number; total: number | null }) {
  const t = useT()
  const figures = {
    done: formatCount(done, t.locale),
    total: total === null ? '' : formatCount(total, t.locale),
  }
  if (total === null || total <= 0) {
    return <span className="tabular shrink-0 text-sm text-ink-faint">{figures.done}</span>
  }
  return (
    <span className="flex shrink-0 items-center gap-1.5">
      <progress
        aria-label={t('tool.progress', figures)}
        value={Math.min(done, total)}
        max={total}
        className="h-1 w-16 appearance-none overflow-hidden rounded-full [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-accent"
      />
      <span aria-hidden="true" className="tabular text-sm text-ink-faint">
        {figures.done}/{figures.total}
      </span>
    </span>
  )
}
