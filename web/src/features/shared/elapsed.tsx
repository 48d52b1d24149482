import { formatElapsed } from '@/system/format/numbers'
import { useNow } from '@/ui/use-now'
import { useT } from './surface'

/** A running clock since a time in microseconds. */
export function Elapsed({ since }: { since: number }) {
  const t = useT()
  const now = useNow(1000)
  return (
    <span className="tabular" aria-hidden="true">
      {formatElapsed(now - since / 1000, t.locale)}
    </span>
  )
}
