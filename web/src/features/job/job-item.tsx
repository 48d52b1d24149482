import { useState } from 'react'
import type { Item } from '@/system/selectors/job'
import { findAgent, type Team } from '@/system/selectors/team'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Markdown, MarkdownLine } from '@/ui/markdown/markdown'
import { Dot } from '@/ui/marks'
import { describeOutcome } from '../shared/code-texts'
import { ConfirmDialog } from '../shared/confirm-dialog'
import { RefList } from '../shared/ref-list'
import { RunLink } from '../shared/run-link'
import { useReadOnly, useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { TaskDetail } from '../task/task-detail'
import { ITEM_TONES } from './job-progress'

interface ItemProps {
  readonly item: Item
  readonly jobId: string
  /** Whether failed items of the job can be retried. */
  readonly tries: boolean
  readonly team: Team
  readonly handlers: TeamHandlers
  readonly open: boolean
  readonly onToggle: () => void
}

/** A job item: state, worker, and result or failure. */
export function JobItem(props: ItemProps) {
  const t = useT()
  const { item, team, handlers, open } = props
  const { status } = item
  const worker = findAgent(team.agents, item.agentId)
  const needsInput = status === 'running' && worker?.state === 'needs_input'
  return (
    <>
      <div className="flex items-start gap-2">
        <button
          type="button"
          aria-expanded={open}
          onClick={props.onToggle}
          className="flex min-w-0 flex-1 items-start gap-1.5 rounded text-left"
        >
          <Icon
            name={open ? 'chevronDown' : 'chevronRight'}
            size={12}
            className="mt-1 shrink-0 text-ink-faint"
          />
          <span className={`wrap-any min-w-0 ${open ? '' : 'line-clamp-2'}`}>{item.title}</span>
        </button>
        <ItemAction {...props} />
      </div>
      <p className="flex flex-wrap items-center gap-x-2 pl-[18px] text-sm text-ink-soft">
        <span className={`flex items-center gap-1.5 ${needsInput ? 'font-semibold text-warn' : ''}`}>
          <Dot tone={needsInput ? 'warn' : ITEM_TONES[status]} active={status === 'running' && !needsInput} />
          {needsInput ? t('team.state.needs_input') : t(`team.item.${status}`)}
        </span>
        {worker !== null && (
          <button
            type="button"
            onClick={() => handlers.onOpenAgent(worker.agentId)}
            className="wrap-any rounded text-left text-accent hover:underline"
          >
            {worker.name}
          </button>
        )}
        {item.attempts > 1 && (
          <span className="tabular text-ink-faint">{t.count('team.attempts', item.attempts)}</span>
        )}
      </p>
      {item.problem && (
        <p className={`wrap-any pl-[18px] text-sm text-bad ${open ? '' : 'line-clamp-2'}`}>
          {describeOutcome(t, item.problem)}
        </p>
      )}
      {item.output && !open && (
        <p className="wrap-any line-clamp-2 pl-[18px] text-sm text-ink-soft">
          <MarkdownLine text={item.output} />
        </p>
      )}
      {open && (
        <div className="pl-[18px]">
          <ItemDetail {...props} />
        </div>
      )}
    </>
  )
}

/** The full record of an item, as far as it was read. */
function ItemDetail({ item, team, handlers }: ItemProps) {
  const t = useT()
  if (item.task !== null) return <TaskDetail task={item.task} team={team} handlers={handlers} />
  return (
    <div className="mt-1 space-y-1.5 border-t border-line pt-1.5 text-sm">
      <Markdown text={item.output} streaming={false} />
      {item.runId && (
        <RunLink
          label={t('team.open_attempt', { number: item.attempts })}
          text={t('team.open_run')}
          onOpen={() => handlers.onOpenRun(item.runId)}
        />
      )}
      <RefList refs={item.refs} />
    </div>
  )
}

/** The action of an item: retry if it failed, cancel if it is open. */
function ItemAction({ item, jobId, tries, handlers }: ItemProps) {
  const t = useT()
  const [asking, setAsking] = useState(false)
  const { status } = item
  const again = status === 'failed' && tries && item.task?.status !== 'cancelled'
  const open = status === 'waiting' || status === 'running' || status === 'paused'
  if (useReadOnly() || !(again || open)) return null
  return (
    <>
      <Button
        aria-label={t(again ? 'team.item_retry_of' : 'team.item_cancel_of', { item: item.title })}
        className="-my-1 shrink-0"
        look={again ? 'outline' : 'quiet'}
        onClick={() => (again ? handlers.onRetryItems(jobId, item.key) : setAsking(true))}
      >
        {t(again ? 'team.item_retry' : 'team.item_cancel')}
      </Button>
      {asking && (
        <ConfirmDialog
          title={t('team.task_cancel_title', { task: item.title })}
          body={t('team.item_cancel_body')}
          action={t('team.item_cancel_do')}
          onDo={() => handlers.onCancelTask(item.key)}
          onDone={() => setAsking(false)}
        />
      )}
    </>
  )
}
