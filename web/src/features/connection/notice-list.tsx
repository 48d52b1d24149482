import type { Notice, Refused } from '@/system/stores/notice-store'
import { IconButton } from '@/ui/button'
import { hintText } from '../shared/code-texts'
import { RuntimeWords } from '../shared/runtime-message'
import { useT } from '../shared/surface'

/** What was refused or went wrong, until the person takes it off. */
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
            <RefusedText refused={notice} />
          </div>
          <IconButton icon="close" label={t('notices.dismiss')} onClick={() => props.onDismiss(notice.id)} />
        </div>
      ))}
    </div>
  )
}

/** Why something did not come about, and what can be done. */
export function RefusedText({ refused }: { refused: Refused }) {
  const t = useT()
  const title = t.maybe(`code.${refused.code}`) ?? refused.code
  const hint = hintText(t, refused.code, refused.hint)
  const own = t.maybe(`hint.${refused.code}`)
  if (!t.locale.startsWith('en') && t.maybe(`code.${refused.code}`) !== null) {
    const words = [refused.message, own === null ? hint : ''].filter(Boolean).join(' ')
    return (
      <>
        <p className="font-semibold">{title}</p>
        {own !== null && <p className="wrap-any text-ink-soft">{own}</p>}
        <RuntimeWords code={refused.code} message={words} />
      </>
    )
  }
  return (
    <>
      <p>
        {!refused.message.startsWith(title) && <span className="font-semibold">{title}</span>}{' '}
        <span className="wrap-any text-ink-soft">{refused.message}</span>
      </p>
      {hint !== '' && <p className="wrap-any text-ink-soft">{hint}</p>}
    </>
  )
}

/** The same where it was asked for: behind a dialog nobody reads what stands on the page. */
export function RefusedHere({ refused }: { refused: Refused | null }) {
  if (refused === null) return null
  return (
    <div role="alert" className="rounded-lg border border-bad/40 bg-bad-soft px-3 py-1.5">
      <RefusedText refused={refused} />
    </div>
  )
}
