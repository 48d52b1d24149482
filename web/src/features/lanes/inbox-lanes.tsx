import { listItemKeys } from '@/system/selectors/job'
import { findAgent, findAgentName, type Team } from '@/system/selectors/team'
import { Button } from '@/ui/button'
import { describeUsage } from '../shared/agent-marks'
import { LongText } from '../shared/load-more'
import { useT } from '../shared/surface'
import { NOTIFICATION_TONES } from '../shared/tones'
import { Entry, FromTo, Lane } from './lane'

/** Notifications that agents received about their subagents. */
export function NotificationLane(props: {
  readonly team: Team
  readonly onOpenAgent: (agentId: string) => void
}) {
  const t = useT()
  const { team, onOpenAgent } = props
  const items = listItemKeys(team.tasks)
  // A job shows its items itself.
  const notifications = team.notifications.filter((notification) => !items.has(notification.taskId))
  return (
    <Lane label={t('team.view.notifications')} empty={t('team.notifications_empty')}>
      {notifications.toReversed().map((notification) => {
        const agent = findAgent(team.agents, notification.agentId)
        const used = describeUsage(t, notification.usage)
        return (
          <Entry
            key={notification.key}
            who={
              <FromTo
                from={findAgentName(team.agents, notification.agentId)}
                to={findAgentName(team.agents, notification.parentAgentId) || t('app.unknown')}
              />
            }
            state={t(`team.notification.${notification.status}`)}
            tone={NOTIFICATION_TONES[notification.status]}
            at={notification.at}
          >
            {notification.result.text ? (
              <LongText text={notification.result} />
            ) : (
              <p className="wrap-any">{notification.summary}</p>
            )}
            <p className="flex flex-wrap items-center gap-x-2 text-sm text-ink-faint">
              <span>{t(notification.consumed ? 'team.notification_read' : 'team.notification_unread')}</span>
              {notification.plainText && <span>{t('team.plain_text')}</span>}
              {used && <span className="tabular">{used}</span>}
              {agent !== null && (
                <Button className="-my-1" onClick={() => onOpenAgent(agent.agentId)}>
                  {t('team.open_transcript')}
                </Button>
              )}
            </p>
          </Entry>
        )
      })}
    </Lane>
  )
}

/** Messages between agents. */
export function MessageLane({ team }: { team: Team }) {
  const t = useT()
  return (
    <Lane label={t('team.view.messages')} empty={t('team.messages_empty')}>
      {team.messages.toReversed().map((message) => {
        const to = message.participants
          .filter((id) => id !== message.source)
          .map((id) => findAgentName(team.agents, id))
          .join(', ')
        return (
          <Entry
            key={message.key}
            who={<FromTo from={findAgentName(team.agents, message.source)} to={to || t('app.unknown')} />}
            state={t('team.message')}
            tone="quiet"
            at={message.at}
          >
            <LongText text={message.text} />
          </Entry>
        )
      })}
    </Lane>
  )
}
