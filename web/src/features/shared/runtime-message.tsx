import { Disclosure } from '@/ui/disclosure'
import { useT } from './surface'

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
