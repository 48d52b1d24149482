/** Texts for codes, or the server's text if the page has none. */

import { markInvisible } from '@/system/format/exact-text'
import { rewordHint } from '@/system/format/hints'
import type { Reason } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'

/** What to do about a failure or refusal. */
export function describeHint(t: Translate, code: string, serverHint: string): string {
  return t.find(`hint.${code}`) ?? rewordHint(serverHint)
}

/** The text of invalid settings; null if the page has none for the code. */
export function describeSettingsProblem(
  t: Translate,
  code = '',
  parameters: Readonly<Record<string, string>> = {},
): string | null {
  const safe = markParameters(parameters)
  const text = t.find(`settings.problem.${code}`, safe)
  if (text === null) return null
  const { accepted, docs } = safe
  return [
    text,
    ...(accepted === undefined ? [] : [t('settings.problem_accepted', { accepted })]),
    ...(docs === undefined ? [] : [t('settings.problem_docs', { docs })]),
  ].join(t.locale.startsWith('zh') ? '' : ' ')
}

/** The activity of an agent while it uses a tool; null if the tool's name is shown. */
export function describeActivity(t: Translate, tool: string): string | null {
  return t.find(`status.tool.${tool}`)
}

/** The outcome of a run, from its code or cause. */
export function describeOutcome(t: Translate, detail: string): string {
  return t.find(`code.${detail}`) ?? t.find(`outcome.interrupted.${detail}`) ?? detail
}

/** The provider and name of the model in use; empty if unknown. The search has a name in the page's language. */
export function formatModel(t: Translate, provider: string, model: string): string {
  return isOffline(provider, model) ? t('status.offline') : [provider, model].filter(Boolean).join(' / ')
}

/** Whether no model is connected, and a search of the folder answers. */
export function isOffline(provider: string, model: string): boolean {
  return provider === 'offline' && model === 'search, no model'
}

/** The label of a permission mode, or its wire name if it is unknown. */
export function labelMode(t: Translate, mode: string): string {
  return t.find(`composer.permission.${mode}`) ?? mode
}

/** Codes whose `mode` parameter is a permission mode of Callboard. */
export const MODE_CODES: ReadonlySet<string> = new Set(['agent_asks', 'mode_applies'])
/** A reason of a decision, in the page's language. */
export function describeReason(t: Translate, { code, parameters = {} }: Reason): string {
  const safeParameters = markParameters(parameters)
  const { mode, scope } = parameters
  const labels = {
    ...(mode !== undefined && MODE_CODES.has(code) && { mode: labelMode(t, mode) }),
    ...(scope !== undefined && { scope: t.find(`settings.scope.${scope}`) ?? scope }),
  }
  return t.find(`action.reason.${code}`, { ...safeParameters, ...labels }) ?? code
}

/** Several reasons in sequence, or the runtime's text if there are none. */
export function describeReasons(
  t: Translate,
  reasons: readonly Reason[] | undefined,
  fallback: string,
): string {
  if (reasons === undefined || reasons.length === 0) return fallback
  return reasons.map((reason) => describeReason(t, reason)).join(t.locale.startsWith('zh') ? '' : ' ')
}

function markParameters(parameters: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, markInvisible(value)] as const),
  )
}
