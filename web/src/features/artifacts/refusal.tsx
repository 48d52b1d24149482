import type { Refused } from '@/system/workbench/notices'
import { useT } from '../shared/surface'
import { hintText } from '../shared/words'

/** Why something that was asked for here did not come about. What was written is still here. */
export function Refusal({ refused }: { refused: Refused }) {
  const t = useT()
  const hint = hintText(t, refused.code, refused.hint)
  return (
    <div role="alert" className="rounded-md bg-bad-soft px-3 py-2">
      <p className="font-semibold text-bad">{t.maybe(`code.${refused.code}`) ?? refused.code}</p>
      {refused.message && <p className="wrap-any text-ink-soft">{refused.message}</p>}
      {hint && <p className="wrap-any text-ink-soft">{hint}</p>}
    </div>
  )
}
