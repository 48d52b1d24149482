import type { Refusal } from '@/system/stores/notice-store'
import { Disclosure } from '@/ui/disclosure'
import { describeHint, describeSettingsProblem } from './code-texts'
import { useT } from './surface'

/** A refusal: what happened and what to do next. */
export function RefusalText({ refusal }: { refusal: Refusal }) {
  const t = useT()
  const title = t.find(`code.${refusal.code}`) ?? refusal.code
  const hint = describeHint(t, refusal.code, refusal.hint)
  const pageHint = t.find(`hint.${refusal.code}`)
  const detail = describeSettingsProblem(t, refusal.reason, refusal.params)
  if (detail !== null) {
    return (
      <p>
        <span className="font-semibold">{title}</span>{' '}
        {refusal.field !== '' && <span className="wrap-any font-mono text-sm">{refusal.field}</span>}{' '}
        <span className="wrap-any text-ink-soft">{detail}</span>
      </p>
    )
  }
  if (!t.locale.startsWith('en') && t.find(`code.${refusal.code}`) !== null) {
    const message = [refusal.message, pageHint === null ? hint : ''].filter(Boolean).join(' ')
    return (
      <>
        <p className="font-semibold">{title}</p>
        {pageHint !== null && <p className="wrap-any text-ink-soft">{pageHint}</p>}
        <RuntimeMessage code={refusal.code} message={message} />
      </>
    )
  }
  return (
    <>
      <p>
        {!refusal.message.startsWith(title) && <span className="font-semibold">{title}</span>}{' '}
        <span className="wrap-any text-ink-soft">{refusal.message}</span>
      </p>
      {hint !== '' && <p className="wrap-any text-ink-soft">{hint}</p>}
    </>
  )
}

/** A refusal inside a dialog, which would hide a notice on the page. */
export function RefusalAlert({ refusal }: { refusal: Refusal | null }) {
  if (refusal === null) return null
  return (
    <div role="alert" className="rounded-lg border border-bad/40 bg-bad-soft px-3 py-1.5">
      <RefusalText refusal={refusal} />
    </div>
  )
}

/**
 * The runtime's English text beside the text of its code. In another language it is folded.
 */
export function RuntimeMessage({ code, message }: { readonly code: string; readonly message: string }) {
  const t = useT()
  if (message === '') return null
  const paragraph = (
    <p lang="en" className="wrap-any whitespace-pre-wrap text-ink-soft">
      {message}
    </p>
  )
  if (t.locale.startsWith('en') || t.find(`code.${code}`) === null) return paragraph
  return <Disclosure title={t('app.runtime_message')}>{paragraph}</Disclosure>
}
