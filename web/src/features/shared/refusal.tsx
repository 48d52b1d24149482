import type { Refusal } from '@/system/stores/notice-store'
import { Disclosure } from '@/ui/disclosure'
import { hintText } from './code-texts'
import { useT } from './surface'

/** Why something did not come about, and what can be done. */
export function RefusedText({ refusal }: { refusal: Refusal }) {
  const t = useT()
  const title = t.maybe(`code.${refusal.code}`) ?? refusal.code
  const hint = hintText(t, refusal.code, refusal.hint)
  const own = t.maybe(`hint.${refusal.code}`)
  if (!t.locale.startsWith('en') && t.maybe(`code.${refusal.code}`) !== null) {
    const words = [refusal.message, own === null ? hint : ''].filter(Boolean).join(' ')
    return (
      <>
        <p className="font-semibold">{title}</p>
        {own !== null && <p className="wrap-any text-ink-soft">{own}</p>}
        <RuntimeWords code={refusal.code} message={words} />
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

/** The same where it was asked for: behind a dialog nobody reads what stands on the page. */
export function RefusedHere({ refusal }: { refusal: Refusal | null }) {
  if (refusal === null) return null
  return (
    <div role="alert" className="rounded-lg border border-bad/40 bg-bad-soft px-3 py-1.5">
      <RefusedText refusal={refusal} />
    </div>
  )
}

/**
 * What the runtime itself said of something that has a code. In another language than its own the code's text comes first, and
 * the words are there for who wants them.
 */
export function RuntimeWords({ code, message }: { readonly code: string; readonly message: string }) {
  const t = useT()
  if (message === '') return null
  const words = (
    <p lang="en" className="wrap-any whitespace-pre-wrap text-ink-soft">
      {message}
    </p>
  )
  if (t.locale.startsWith('en') || t.maybe(`code.${code}`) === null) return words
  return <Disclosure title={t('action.runtime_words')}>{words}</Disclosure>
}
