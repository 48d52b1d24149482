import { visibleText } from '@/system/format/exact-text'
import type { Reason } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'
import { modeText } from './code-texts'

/** Codes whose `mode` is a permission mode of ours, and not a mode of another program. */
const OF_OUR_MODES: ReadonlySet<string> = new Set(['agent_asks', 'mode_applies'])

/** One reason of a decision, in the language of the page. */
export function reasonText(t: Translate, { code, parameters = {} }: Reason): string {
  const shown = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, visibleText(value)] as const),
  )
  const { mode, scope } = parameters
  const named = {
    ...(mode !== undefined && OF_OUR_MODES.has(code) && { mode: modeText(t, mode) }),
    ...(scope !== undefined && { scope: t.maybe(`settings.scope.${scope}`) ?? scope }),
  }
  return t.maybe(`action.reason.${code}`, { ...shown, ...named }) ?? code
}

/** Several reasons, one after the other; what the runtime said itself where there are no codes. */
export function reasonsText(t: Translate, reasons: readonly Reason[] | undefined, said: string): string {
  if (reasons === undefined || reasons.length === 0) return said
  return reasons.map((reason) => reasonText(t, reason)).join(t.locale.startsWith('zh') ? '' : ' ')
}
