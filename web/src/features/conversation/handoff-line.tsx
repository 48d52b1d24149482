import { memo } from 'react'
import type { HandoffPart } from '@/system/rows/model'
import type { Tone } from '@/ui/marks'
import { useNames, useT } from '../shared/surface'
import { ReceivedLine } from './received-lines'

/** A handoff that the turn received or answered. */
export const HandoffLine = memo(({ part }: { part: HandoffPart }) => {
  const t = useT()
  const names = useNames()
  const [source, target] = [names.nameAgent(part.source), names.nameAgent(part.target)]
  return (
    <ReceivedLine
      id={part.key}
      icon="arrowRight"
      title={t('team.line.handoff', { source, target })}
      {...(part.news === 'requested'
        ? {}
        : { mark: { text: t(`received.handoff.${part.news}`), tone: HANDOFF_TONES[part.news] } })}
      text={part.message}
      more={
        part.ownership && (
          <p className="text-sm text-ink-faint">{t('received.ownership', { agent: target })}</p>
        )
      }
    />
  )
})
const HANDOFF_TONES: Readonly<Record<HandoffPart['news'], Tone>> = {
  requested: 'quiet',
  accepted: 'good',
  rejected: 'bad',
  returned: 'good',
  expired: 'warn',
}
