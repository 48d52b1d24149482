import type { Reason } from '@/system/generated/contracts'
import { Icon } from '@/ui/icon'
import { reasonText } from '../shared/reason-text'
import { useT } from '../shared/surface'

/** Why a person is asked, and what is at stake, in the language of the page. */
export function Reasons({ reasons }: { readonly reasons: readonly Reason[] }) {
  const t = useT()
  if (reasons.length === 0) return null
  return (
    <ul aria-label={t('action.reasons')} className="space-y-0.5 text-sm text-warn">
      {reasons.map((reason) => (
        <li key={reason.code} className="flex items-start gap-1.5">
          <Icon name="warning" size={12} className="mt-[3px] shrink-0" />
          <span className="wrap-any min-w-0">{reasonText(t, reason)}</span>
        </li>
      ))}
    </ul>
  )
}
