import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { RefusalText } from '../shared/refusal'
import { useT } from '../shared/surface'

/** Codes about the session's log. Reconnecting does not help. */
const LOG_CODES: ReadonlySet<string> = new Set(['chain_broken', 'facts_unreadable'])

/** Whether a code means that the log cannot be read. */
export function isUnreadable(code: string): boolean {
  return LOG_CODES.has(code)
}

/** Shown instead of the conversation of an unreadable session: the reason and what to do. */
export function UnreadableSession(props: {
  readonly refusal: Refusal
  readonly onBack: () => void
  readonly onRetry: () => void
}) {
  const t = useT()
  return (
    <div role="alert" className="flex flex-1 flex-col items-center justify-center gap-4 p-6">
      <div className="flex w-full max-w-[560px] items-start gap-2.5">
        <Icon name="warning" className="mt-0.5 shrink-0 text-bad" />
        <div className="min-w-0 flex-1 space-y-1">
          <RefusalText refusal={props.refusal} />
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
