import { type DragEvent, useState } from 'react'
import { ago } from '@/system/format/numbers'
import type { TaskRow } from '@/system/rows/model'
import { nameOf, type Team } from '@/system/rows/team'
import { IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Badge } from '@/ui/marks'
import { Menu } from '@/ui/menu'
import type { MenuEntry } from '@/ui/menu-entries'
import { useNow } from '@/ui/now'
import { useT } from '../shared/surface'
import type { TeamHandlers } from './handlers'
import { LongText } from './long-text'
import { Refs } from './refs'

export function TaskCard(props: {
  readonly task: TaskRow
  readonly team: Team
  readonly columns: readonly TaskRow['status'][]
  readonly handlers: TeamHandlers
  readonly onDrag: (event: DragEvent) => void
}) {
  const t = useT()
  const { task, team, handlers } = props
  const [open, setOpen] = useState(false)
  const assignee = task.assignee ? nameOf(team.agents, task.assignee) : ''
  const change = (what: Parameters<TeamHandlers['onChangeTask']>[1]) => handlers.onChangeTask(task.key, what)
  const moves = props.columns
    .filter((status) => status !== task.status)
    .map((status): MenuEntry => {
      const label = t('team.move_to', { column: t(`team.task.${status}`) })
      return { id: status, label, icon: 'arrowRight', onSelect: () => change({ status }) }
    })
  const assigns = team.agents
    .filter((agent) => agent.agentId !== task.assignee && agent.state !== 'closed')
    .slice(0, 12)
    .map((agent): MenuEntry => {
      const label = t('team.assign_to', { agent: agent.name })
      return { id: agent.agentId, label, icon: 'edit', onSelect: () => change({ assignee: agent.agentId }) }
    })
  const progress = task.status === 'done' ? task.summary : task.progress
  return (
    <li
      draggable
      onDragStart={props.onDrag}
      className="relative rounded-md border border-line bg-surface px-2.5 py-1.5"
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="wrap-any block w-full rounded pr-6 text-left font-medium"
      >
        <span className={open ? '' : 'line-clamp-3'}>{task.title}</span>
      </button>
      <span className="absolute top-0.5 right-0.5">
        <Menu
          trigger={
            <IconButton aria-haspopup="menu" icon="more" label={t('team.task_menu', { task: task.title })} />
          }
          entries={[...moves, ...assigns]}
        />
      </span>
      {task.blocker && (
        <p className="wrap-any flex items-start gap-1.5 text-sm text-warn">
          <Icon name="warning" size={12} className="mt-[3px]" />
          <span className="min-w-0 flex-1">{task.blocker}</span>
        </p>
      )}
      {progress && !open && <p className="line-clamp-2 wrap-any text-sm text-ink-soft">{progress}</p>}
      <p className="flex min-w-0 items-center gap-1.5 text-sm text-ink-faint">
        {task.priority !== 'normal' && (
          <Badge tone={task.priority === 'high' ? 'warn' : 'quiet'}>
            {t(`team.priority.${task.priority}`)}
          </Badge>
        )}
        <span className="truncate">{assignee || t('team.unassigned')}</span>
        {task.attempts.length > 1 && (
          <span className="ml-auto whitespace-nowrap">{t.count('team.attempts', task.attempts.length)}</span>
        )}
      </p>
      {open && <Detail task={task} team={team} />}
    </li>
  )
}

function Detail({ task, team }: { task: TaskRow; team: Team }) {
  const t = useT()
  const now = useNow(60_000)
  const title = (key: string) => team.tasks.find((one) => one.key === key)?.title ?? key
  return (
    <div className="mt-1 space-y-1.5 border-t border-line pt-1.5 text-sm">
      <LongText text={task.objective} />
      {task.acceptance && (
        <p className="wrap-any text-ink-soft">{t('team.acceptance', { text: task.acceptance })}</p>
      )}
      {task.parentTask && (
        <p className="text-ink-soft">{t('team.part_of', { task: title(task.parentTask) })}</p>
      )}
      {task.dependsOn.length > 0 && (
        <p className="wrap-any text-ink-soft">
          {t('team.depends_on', { tasks: task.dependsOn.map(title).join(', ') })}
        </p>
      )}
      {task.progress && <p className="wrap-any text-ink-soft">{task.progress}</p>}
      {task.summary && <p className="wrap-any">{task.summary}</p>}
      <Refs refs={task.refs} />
      {task.comments.map((comment) => (
        <p key={`${comment.at} ${comment.by}`} className="wrap-any">
          <span className="font-medium">{comment.by ? nameOf(team.agents, comment.by) : t('turn.you')}</span>{' '}
          <span className="text-ink-faint">{ago(comment.at / 1000, now, t.locale)}</span>
          <br />
          {comment.text}
        </p>
      ))}
    </div>
  )
}
