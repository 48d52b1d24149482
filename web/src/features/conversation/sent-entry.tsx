import type { SentInput } from '@/system/stores/outbox'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'

/** An input that was sent and has no fact yet. */
export function SentEntry(props: {
  readonly entry: SentInput
  readonly onSendAgain: (entry: SentInput) => void
  readonly onDiscard: (entry: SentInput) => void
}) {
  const t = useT()
  const { entry } = props
  const unconfirmed = entry.state === 'unconfirmed'
  const steer = entry.sendMode === 'steer'
  const look = steer ? 'ml-1.5 border-l-2 py-0.5 pl-3.5' : 'rounded-lg border px-3.5 py-2.5'
  return (
    <div className={`border-dashed border-line-strong ${look}`}>
      <div className="flex items-center gap-2 pb-0.5 text-sm text-ink-faint">
        {steer && <Icon name="steer" size={14} />}
        <span className="font-semibold text-ink">{t(steer ? 'steer.title' : 'turn.you')}</span>
        {!unconfirmed && <span>{t(entry.state === 'sending' ? 'turn.sending' : 'turn.accepted')}</span>}
      </div>
      <p className="wrap-any text-lg whitespace-pre-wrap text-ink-soft">{entry.text}</p>
      {entry.attached.length > 0 && (
        <p className="wrap-any pt-1 text-sm text-ink-faint">
          {t.count('composer.with', entry.attached.length, {
            names: entry.attached.map((file) => file.name).join(', '),
          })}
        </p>
      )}
      {unconfirmed && (
        <div className="flex flex-wrap items-center gap-2 pt-2" role="alert">
          <span className="text-sm text-warn">{t('turn.unconfirmed')}</span>
          <Button look="outline" onClick={() => props.onSendAgain(entry)}>
            {t('turn.send_again')}
          </Button>
          <Button onClick={() => props.onDiscard(entry)}>{t('turn.discard')}</Button>
        </div>
      )}
    </div>
  )
}
