import type { ReviewRow } from '@/system/rows/model'
import { findAgentName, type Team } from '@/system/selectors/team'
import { Button } from '@/ui/button'
import type { Tone } from '@/ui/marks'
import { Menu } from '@/ui/menu/menu'
import { LongText } from '../shared/load-more'
import { RefList } from '../shared/ref-list'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { Entry, FromTo, Lane, NamedLine } from './lane'

const TONES: Readonly<Record<ReviewRow['state'], Tone>> = {
  requested: 'quiet',
  reviewing: 'accent',
  passed: 'good',
  changes_requested: 'warn',
  failed: 'bad',
  applied: 'good',
  unknown: 'quiet',
}

/** Reviews: reviewer, subject, evidence and requested changes. */
export function ReviewLane({ team, handlers }: { team: Team; handlers: TeamHandlers }) {
  const t = useT()
  return (
    <Lane label={t('team.view.reviews')} empty={t('team.reviews_empty')}>
      {team.reviews.toReversed().map((review) => (
        <Review key={review.key} review={review} team={team} handlers={handlers} />
      ))}
    </Lane>
  )
}

function Review(props: { readonly review: ReviewRow; readonly team: Team; readonly handlers: TeamHandlers }) {
  const t = useT()
  const { review, team, handlers } = props
  const findName = (id: string) => findAgentName(team.agents, id) || t('app.unknown')
  const others = team.agents.filter((agent) => agent.state !== 'closed' && agent.agentId !== review.target)
  return (
    <Entry
      who={<FromTo from={findName(review.reviewer)} to={findName(review.target)} />}
      state={t(`team.review.${review.state}`)}
      tone={TONES[review.state]}
      at={review.judged || review.requested}
    >
      {review.summary ? (
        <p className="wrap-any">{review.summary}</p>
      ) : (
        <LongText text={review.instructions} />
      )}
      {review.fixes.length > 0 && (
        <ol aria-label={t('team.fixes')} className="list-decimal space-y-0.5 pl-7">
          {review.fixes.map((fix) => (
            <li key={`${fix.ref} ${fix.text}`} className="wrap-any">
              {fix.text} {fix.ref && <span className="font-mono text-xs text-ink-faint">{fix.ref}</span>}
              {fix.assignee && <span className="text-sm text-ink-faint"> · {findName(fix.assignee)}</span>}
            </li>
          ))}
        </ol>
      )}
      <RefList refs={review.refs} />
      {review.assignedTo && <NamedLine name={t('team.assigned_to')}>{findName(review.assignedTo)}</NamedLine>}
      {review.state === 'changes_requested' && (
        <div className="flex flex-wrap gap-2">
          <Button look="outline" onClick={() => handlers.onApplyReview(review.key, null)}>
            {t('team.send_fixes', { agent: findName(review.target) })}
          </Button>
          {others.length > 0 && (
            <Menu
              trigger={
                <Button aria-haspopup="menu" icon="more">
                  {t('team.send_fixes_other')}
                </Button>
              }
              entries={others.slice(0, 12).map((agent) => ({
                id: agent.agentId,
                label: agent.name,
                onSelect: () => handlers.onApplyReview(review.key, agent.agentId),
              }))}
            />
          )}
        </div>
      )}
    </Entry>
  )
}
