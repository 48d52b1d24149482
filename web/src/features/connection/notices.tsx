import type { Notice } from '@/system/workbench/notices'
import { IconButton } from '@/ui/button'
import { useT } from '../shared/surface'
import { hintText } from '../shared/words'

/** What was refused or went wrong, until the person takes it off. */
export function NoticeList(props: {
  readonly notices: readonly Notice[]
  readonly onDismiss: (id: number) => void
}) {
  const t = useT()
  const title = (notice: Notice) => t.maybe(`code.${notice.code}`) ?? notice.code
  return (
    <div role="alert" aria-label={t('notices.label')} className="space-y-2">
      {props.notices.map((notice) => (
        <div
          key={notice.id}
          className="flex items-start gap-2 rounded-lg border border-bad/40 bg-bad-soft py-1 pr-1 pl-3"
        >
          <div className="min-w-0 flex-1 py-1">
            <p>
              {!notice.message.startsWith(title(notice)) && (
                <span className="font-semibold">{title(notice)}</span>
              )}{' '}
              <span className="wrap-any text-ink-soft">{notice.message}</span>
            </p>
            <Hint notice={notice} />
          </div>
          <IconButton icon="close" label={t('notices.dismiss')} onClick={() => props.onDismiss(notice.id)} />
        </div>
      ))}
    </div>
  )
}

function Hint({ notice }: { notice: Notice }) {
  const t = useT()
  const hint = hintText(t, notice.code, notice.hint)
  return hint === '' ? null : <p className="wrap-any text-ink-soft">{hint}</p>
}
