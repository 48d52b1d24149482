import type { Notice } from '@/system/stores/notice-store'
import { IconButton } from '@/ui/button'
import { RefusalText } from '../shared/refusal'
import { useT } from '../shared/surface'

/** Refusals and failures, until they are dismissed. */
export function NoticeList(props: {
  readonly notices: readonly Notice[]
  readonly onDismiss: (id: number) => void
}) {
  const t = useT()
  return (
    <div role="alert" aria-label={t('notices.label')} className="space-y-2">
      {props.notices.map((notice) => (
        <div
          key={notice.id}
          className="flex items-start gap-2 rounded-lg border border-bad/40 bg-bad-soft py-1 pr-1 pl-3"
        >
          <div className="min-w-0 flex-1 py-1">
            <RefusalText refusal={notice} />
          </div>
          <IconButton icon="close" label={t('notices.dismiss')} onClick={() => props.onDismiss(notice.id)} />
        </div>
      ))}
    </div>
  )
}
