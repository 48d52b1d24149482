import { useState } from 'react'
import { countWaiting, type Team } from '@/system/selectors/team'
import { RadioGroup } from '@/ui/radio-group'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { HandoffLane } from './handoff-lane'
import { MessageLane, NotificationLane } from './inbox-lanes'
import { ReviewLane } from './review-lane'

const LANES = ['all', 'notifications', 'handoffs', 'reviews', 'messages'] as const
type LaneName = (typeof LANES)[number]

/** Handoffs, reviews, notifications and messages between agents, one lane each. */
export function Lanes({ team, handlers }: { team: Team; handlers: TeamHandlers }) {
  const t = useT()
  const [lane, setLane] = useState<LaneName>('all')
  const counts: Readonly<Record<LaneName, number>> = {
    all: countWaiting(team),
    notifications: team.notifications.length,
    handoffs: team.handoffs.length,
    reviews: team.reviews.length,
    messages: team.messages.length,
  }
  const isVisible = (name: LaneName) => lane === name || (lane === 'all' && counts[name] > 0)
  const nothing = lane === 'all' && LANES.every((name) => name === 'all' || counts[name] === 0)
  return (
    <section
      aria-label={t('team.view.lanes')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
    >
      <div className="mx-auto max-w-[820px] space-y-4 px-4 py-2">
        <RadioGroup
          label={t('team.lane')}
          value={lane}
          onChange={setLane}
          choices={LANES.map((value) => ({ value, label: t(`team.lane.${value}`) }))}
        />
        {nothing && <p className="text-ink-faint">{t('team.lanes_empty')}</p>}
        {isVisible('handoffs') && <HandoffLane team={team} handlers={handlers} />}
        {isVisible('reviews') && <ReviewLane team={team} handlers={handlers} />}
        {isVisible('notifications') && <NotificationLane team={team} onOpenAgent={handlers.onOpenAgent} />}
        {isVisible('messages') && <MessageLane team={team} />}
      </div>
    </section>
  )
}
