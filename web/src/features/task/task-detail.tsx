import { formatAgo, formatCount } from '@/system/format/numbers'
import type { TaskRow } from '@/system/rows/model'
import { findAgentName, type Team } from '@/system/selectors/team'
import { Fact, Facts } from '@/ui/facts'
import { Markdown } from '@/ui/markdown/markdown'
import { useNow } from '@/ui/use-now'
import { LongText } from '../shared/load-more'
import { RefList } from '../shared/ref-list'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { AttemptList } from './attempt-list'

/** The full record of a task. */
export function TaskDetail(props: {
  readonly task: TaskRow
  readonly team: Team
  readonly handlers: TeamHandlers
}) {
  const { task, team, handlers } = props
  const t = useT()
  const now = useNow(60_000)
  const findTitle = (key: string) => team.tasks.find((task) => task.key === key)?.title ?? key
  return (
    <div className="mt-1 space-y-1.5 border-t border-line pt-1.5 text-sm">
      <LongText text={task.objective} />
      {task.acceptance && (
        <p className="wrap-any text-ink-soft">{t('team.acceptance', { text: task.acceptance })}</p>
      )}
      {task.parentTask && !task.job && (
        <p className="text-ink-soft">{t('team.part_of', { task: findTitle(task.parentTask) })}</p>
      )}
      {task.dependsOn.length > 0 && (
        <p className="wrap-any text-ink-soft">
          {t('team.depends_on', { tasks: task.dependsOn.map(findTitle).join(', ') })}
        </p>
      )}
      {task.phase && <p className="wrap-any text-ink-soft">{t('team.phase', { phase: task.phase })}</p>}
      <Counters counters={task.counters} />
      {task.progress && (
        <div className="wrap-any text-ink-soft">
          <Markdown text={task.progress} streaming={false} />
        </div>
      )}
      {task.summary && (
        <div className="wrap-any">
          {task.plainText && <p className="text-sm text-ink-faint">{t('team.plain_text')}</p>}
          <Markdown text={task.summary} streaming={false} />
        </div>
      )}
      <AttemptList task={task} team={team} handlers={handlers} />
      <RefList refs={task.refs} />
      {task.comments.map((comment) => (
        <p key={`${comment.at} ${comment.by}`} className="wrap-any">
          <span className="font-medium">
            {comment.by ? findAgentName(team.agents, comment.by) : t('turn.you')}
          </span>{' '}
          <span className="text-ink-faint">{formatAgo(comment.at / 1000, now, t.locale)}</span>
          <br />
          {comment.text}
        </p>
      ))}
    </div>
  )
}

function Counters({ counters }: { counters: TaskRow['counters'] }) {
  const t = useT()
  const all = Object.entries(counters)
  if (all.length === 0) return null
  return (
    <Facts>
      {all.map(([name, value]) => (
        <Fact key={name} name={name}>
          {formatCount(value, t.locale)}
        </Fact>
      ))}
    </Facts>
  )
}
