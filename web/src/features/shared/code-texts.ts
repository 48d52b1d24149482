/** Texts that are made from a code, with the server's own words where the page has none for it. */

import { markInvisible } from '@/system/format/exact-text'
import { rewordHint } from '@/system/format/hints'
import type { Reason } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'

/** What to do about a failure or a refusal. */
export function hintText(t: Translate, code: string, told: string): string {
  return t.maybe(`hint.${code}`) ?? rewordHint(told)
}

/** What an agent is doing with this tool, in words; null for a tool that is known by its name. */
export function doingText(t: Translate, tool: string): string | null {
  return t.maybe(`status.tool.${tool}`)
}

/** What a run came to, from the code or the cause that its fact names. */
export function detailText(t: Translate, detail: string): string {
  return t.maybe(`code.${detail}`) ?? t.maybe(`outcome.interrupted.${detail}`) ?? detail
}

/** A permission mode by its name on the page; one of a later version by its own. */
export function modeText(t: Translate, mode: string): string {
  return t.maybe(`composer.permission.${mode}`) ?? mode
}

/** Codes whose `mode` is a permission mode of ours, and not a mode of another program. */
export const OF_OUR_MODES: ReadonlySet<string> = new Set(['agent_asks', 'mode_applies'])
/** One reason of a decision, in the language of the page. */
export function reasonText(t: Translate, { code, parameters = {} }: Reason): string {
  const shown = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, markInvisible(value)] as const),
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
