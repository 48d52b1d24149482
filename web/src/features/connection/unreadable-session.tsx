import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { RefusedText } from '../shared/refusal'
import { useT } from '../shared/surface'

/** Refusals of a session's log itself: no connection brings it back. */
const OF_THE_LOG: ReadonlySet<string> = new Set(['chain_broken', 'facts_unreadable'])

/** Whether a refusal says that the log of a session cannot be read. */
export function isUnreadable(code: string): boolean {
  return OF_THE_LOG.has(code)
}

/** A session that cannot be read, in the place of its conversation: why, and what to do. */
export function Unreadable(props: {
  readonly refused: Refusal
  readonly onBack: () => void
  readonly onRetry: () => void
}) {
  const t = useT()
  return (
    <div role="alert" className="flex flex-1 flex-col items-center justify-center gap-4 p-6">
      <div className="flex w-full max-w-[560px] items-start gap-2.5">
        <Icon name="warning" className="mt-0.5 shrink-0 text-bad" />
        <div className="min-w-0 flex-1 space-y-1">
          <RefusedText refused={props.refused} />
        </div>
      </div>
      <div className="flex gap-2">
        <Button look="outline" onClick={props.onBack}>
          {t('connection.gone_action')}
        </Button>
        <Button look="outline" onClick={props.onRetry}>
          {t('app.retry_now')}
        </Button>
      </div>
    </div>
  )
}
