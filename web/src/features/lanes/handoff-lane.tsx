import { useState } from 'react'
import { formatClockTime } from '@/system/format/numbers'
import type { HandoffRow } from '@/system/rows/model'
import { findAgentName, isForPerson, type Team, waitsForAnswer } from '@/system/selectors/team'
import { Button } from '@/ui/button'
import { Fact, Facts } from '@/ui/facts'
import type { Tone } from '@/ui/marks'
import { RefList } from '../shared/ref-list'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { Entry, FromTo, Lane } from './lane'

const TONES: Readonly<Record<HandoffRow['state'], Tone>> = {
  handoff_requested: 'quiet',
  accepted: 'accent',
  active: 'accent',
  rejected: 'bad',
  returned: 'good',
  resumed: 'good',
  completed: 'good',
  unknown: 'quiet',
}

/** Handoffs: source, target, content and resume target. */
export function HandoffLane({ team, handlers }: { team: Team; handlers: TeamHandlers }) {
  const t = useT()
  const newest = team.handoffs.toReversed()
  const isWaiting = (handoff: HandoffRow) => waitsForAnswer(handoff, team.agents)
  const waiting = newest.filter(isWaiting)
  const others = newest.filter((handoff) => !isWaiting(handoff))
  return (
    <Lane label={t('team.view.handoffs')} empty={t('team.handoffs_empty')}>
      {[...waiting, ...others].map((handoff) => (
        <Handoff key={handoff.key} handoff={handoff} team={team} handlers={handlers} />
      ))}
    </Lane>
  )
}

interface HandoffProps {
  readonly handoff: HandoffRow
  readonly team: Team
  readonly handlers: TeamHandlers
}

function Handoff({ handoff, team, handlers }: HandoffProps) {
  const t = useT()
  const waits = waitsForAnswer(handoff, team.agents)
  const findName = (id: string) => findAgentName(team.agents, id) || t('app.unknown')
  const ends = { from: findName(handoff.source), to: findName(handoff.target) }
  const { payload } = handoff
  return (
    <Entry
      who={<FromTo {...ends} />}
      state={t(waits ? 'team.handoff.waits' : `team.handoff.${handoff.state}`)}
      tone={waits ? 'warn' : TONES[handoff.state]}
      at={handoff.requested}
    >
      <p className="wrap-any whitespace-pre-wrap">{payload.message}</p>
      <Facts>
        {handoff.reason && <Fact name={t('team.reason')}>{handoff.reason}</Fact>}
        {handoff.ownership && <Fact name={t('team.owner')}>{t('team.owner_moves', { agent: ends.to })}</Fact>}
        {handoff.resumeTarget && <Fact name={t('team.resume')}>{findName(handoff.resumeTarget)}</Fact>}
        {handoff.contextBoundary > 0 && (
          <Fact name={t('team.boundary')}>
            {t('team.boundary_at', { sequence: handoff.contextBoundary })}
          </Fact>
        )}
        {handoff.accepted > 0 && (
          <Fact name={t('team.accepted_at')}>{formatClockTime(handoff.accepted, t.locale)}</Fact>
        )}
        {handoff.answerReason && (
          <Fact name={t('team.answer')}>
            {t.find(`team.answer.${handoff.answerReason}`) ?? handoff.answerReason}
          </Fact>
        )}
        {handoff.reply !== '' && (
          <Fact name={t('team.reply')}>
            {t(`team.reply.${handoff.reply}`)}
            {handoff.reply === 'awaited' &&
              handoff.replyBy > 0 &&
              ` · ${formatClockTime(handoff.replyBy, t.locale)}`}
          </Fact>
        )}
      </Facts>
      {payload.status && !payload.status.ok && (
        <p className="wrap-any text-sm text-bad">{payload.status.reason || t('team.handoff_failed')}</p>
      )}
      <RefList refs={payload.artifacts ?? []} />
      <HandoffButtons handoff={handoff} team={team} handlers={handlers} />
    </Entry>
  )
}

/** Buttons that accept, reject or complete a handoff. */
function HandoffButtons({ handoff, team, handlers }: HandoffProps) {
  const t = useT()
  const [reason, setReason] = useState('')
  const waits = waitsForAnswer(handoff, team.agents)
  const isAccepted = handoff.state === 'active' || handoff.state === 'accepted'
  const mayReturn = isAccepted && handoff.ownership
  const mayEnd = isAccepted && !mayReturn && isForPerson(handoff, team.agents)
  if (!waits && !mayReturn && !mayEnd) return null
  const answer = (decision: 'accept' | 'reject' | 'complete') =>
    handlers.onAnswerHandoff(handoff.key, decision, reason.trim())
  return (
    <div className="flex flex-wrap items-center gap-2">
      <input
        aria-label={t('action.reason')}
        placeholder={t('action.reason')}
        value={reason}
        maxLength={2000}
        onChange={(event) => setReason(event.target.value)}
        className="h-7 min-w-40 flex-1 rounded-md border border-line-strong bg-paper px-2"
      />
      {waits && (
        <>
          <Button look="danger" onClick={() => answer('reject')}>
            {t('action.reject')}
          </Button>
          <Button look="outline" onClick={() => answer('accept')}>
            {t('team.accept')}
          </Button>
        </>
      )}
      {(mayReturn || mayEnd) && (
        <Button look="outline" onClick={() => answer('complete')}>
          {t(mayReturn ? 'team.give_back' : 'team.handoff_done')}
        </Button>
      )}
    </div>
  )
}
