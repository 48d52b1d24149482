/**
 * Messages that a turn received from agents: one line each, apart from the person's and the agent's
 * text.
 */
import { memo, type ReactNode } from 'react'
import type { NoticePart, NotificationPart, RemoteStatusPart } from '@/system/rows/model'
import { Icon, type IconName } from '@/ui/icon'
import { Badge, type Tone } from '@/ui/marks'
import { useOpened } from '../shared/opened-rows'
import { useFullText, useNames, useT } from '../shared/surface'
import { NOTIFICATION_TONES, REMOTE_TONES } from '../shared/tones'

export function ReceivedLine(props: {
  readonly id: string
  readonly icon: IconName
  readonly title: string
  readonly mark?: { readonly text: string; readonly tone: Tone }
  readonly text: string
  readonly more?: ReactNode
}) {
  const [open, setOpen] = useOpened(props.id)
  return (
    <div className="border-l-2 border-line pl-3">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex min-h-7 w-full items-center gap-2 rounded text-left text-ink-soft hover:bg-hover"
      >
        <Icon name={props.icon} size={14} className="text-ink-faint" />
        <span className="max-w-[60%] truncate font-medium">{props.title}</span>
        {props.mark && <Badge tone={props.mark.tone}>{props.mark.text}</Badge>}
        <span className="min-w-0 flex-1 truncate">{!open && props.text}</span>
        <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} className="text-ink-faint" />
      </button>
      {open && (
        <div className="space-y-1 pb-1.5 pl-[22px]">
          <p className="wrap-any whitespace-pre-wrap">{props.text}</p>
          {props.more}
        </div>
      )}
    </div>
  )
}

/** The notification of a subagent's end. */
export const WorkerLine = memo(({ part }: { part: NotificationPart }) => {
  const t = useT()
  const names = useNames()
  return (
    <ReceivedLine
      id={part.key}
      icon="inbox"
      title={t('received.worker', { agent: names.nameAgent(part.agentId) })}
      mark={{ text: t(`team.notification.${part.status}`), tone: NOTIFICATION_TONES[part.status] }}
      text={part.summary}
      more={
        part.taskId !== '' && (
          <p className="text-sm text-ink-faint">
            {t('received.task', { task: names.nameTask(part.taskId) })}
          </p>
        )
      }
    />
  )
})

/** A message of another agent. */
export const MessageLine = memo(({ part }: { part: NoticePart }) => {
  const t = useT()
  const agent = useNames().nameAgent(part.agentId)
  const title = t.find(`received.message.${part.code}`, { agent }) ?? t('received.message', { agent })
  return <ReceivedLine id={part.key} icon="inbox" title={title} text={part.message} />
})

/** The task state that a remote agent reported. */
export const RemoteLine = memo(({ part }: { part: RemoteStatusPart }) => {
  const t = useT()
  const names = useNames()
  const message = useFullText(part.message)
  return (
    <ReceivedLine
      id={part.key}
      icon="globe"
      title={t('received.remote', { agent: names.nameAgent(part.agentId) })}
      mark={{ text: t(`team.remote.task.${part.taskState}`), tone: REMOTE_TONES[part.taskState] }}
      text={message.text}
      more={
        part.artifacts.length > 0 && (
          <p className="wrap-any text-sm text-ink-faint">
            {t('received.delivered', { artifacts: part.artifacts.join(', ') })}
          </p>
        )
      }
    />
  )
})
