import { memo } from 'react'
import type { SteerPart } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { useFullText, useT } from '../shared/surface'

const BARS = { pending: 'border-accent', accepted: 'border-line-strong', rejected: 'border-warn' } as const

/**
 * A steer, shown inside the running turn; queued turns have their own list. A rejected steer keeps its
 * text and offers to send it as a turn.
 */
export const SteerLine = memo(
  (props: {
    readonly part: SteerPart
    readonly onSendAsTurn: (text: string) => void
    readonly onReuse: (text: string) => void
  }) => {
    const t = useT()
    const { part } = props
    const full = useFullText(part.content)
    const { outcome } = part
    const rejected = outcome === 'rejected'
    const reason = rejected ? (t.find(`steer.rejected.${part.reason}`) ?? part.reason) : ''
    return (
      <div className={`ml-1.5 border-l-2 py-0.5 pl-3.5 ${BARS[outcome]}`}>
        <p className="flex flex-wrap items-center gap-x-2 text-sm">
          <Icon
            name="steer"
            size={14}
            className={outcome === 'pending' ? 'animate-breathe text-accent' : 'text-ink-faint'}
          />
          <span className="font-semibold">{t('steer.title')}</span>
          <span className={rejected ? 'text-warn' : 'text-ink-faint'}>{t(`steer.${outcome}`)}</span>
        </p>
        <p className="wrap-any text-lg whitespace-pre-wrap">{full.text}</p>
        {rejected && (
          <div className="flex flex-wrap items-center gap-2 pt-1">
            <span className="text-sm text-ink-faint">{reason}</span>
            <Button look="outline" onClick={() => props.onSendAsTurn(full.text)}>
              {t('steer.send_as_turn')}
            </Button>
            <Button onClick={() => props.onReuse(full.text)}>{t('turn.reuse')}</Button>
          </div>
        )}
      </div>
    )
  },
)
