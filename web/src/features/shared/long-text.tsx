import type { Text } from '@/system/rows/model'
import { LoadMore } from './load-more'
import { useFullText } from './surface'

/** A text of a row, as it is: nothing in it is read as markup. */
export function LongText({ text }: { text: Text }) {
  const full = useFullText(text)
  if (full.text === '') return null
  return (
    <div>
      <p className="wrap-any max-h-72 overflow-y-auto whitespace-pre-wrap">{full.text}</p>
      <LoadMore full={full} />
    </div>
  )
}
