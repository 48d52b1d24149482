import { visibleText } from '@/system/format/exact-text'
import type { Reason } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'
import { Icon } from '@/ui/icon'
import { useT } from '../shared/surface'
import { modeText } from '../shared/words'

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

function reasonText(t: Translate, { code, parameters = {} }: Reason): string {
  const entries = Object.entries(parameters).map(([name, value]) => [name, visibleText(value)] as const)
  const { mode } = parameters
  const known = code === 'agent_asks' && mode !== undefined ? { mode: modeText(t, mode) } : {}
  return t.maybe(`action.reason.${code}`, { ...Object.fromEntries(entries), ...known }) ?? code
}
