import type { Connection } from '@/system/stream/subscription'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'

/** Shows that rows may be outdated. The rows stay on the screen. */
export function ConnectionBanner(props: {
  readonly connection: Connection
  readonly problem: string | null
  readonly onRetry: () => void
}) {
  const t = useT()
  const { connection } = props
  if (connection !== 'stale' && connection !== 'repairing') return null
  return (
    <div
      role="alert"
      className="flex items-center gap-2 border-b border-warn/40 bg-warn-soft px-4 py-1 text-sm"
    >
      <Icon name="warning" size={14} className="text-warn" />
      <p className="min-w-0 flex-1">
        {t(`connection.${connection}`)}{' '}
        {props.problem && <span className="text-ink-faint">{props.problem}</span>}
      </p>
      {connection === 'stale' && <Button onClick={props.onRetry}>{t('app.retry_now')}</Button>}
    </div>
  )
}
