/** Texts that are made from a code, with the server's own words where the page has none for it. */
import { forPeople } from '@/system/format/hints'
import type { Translate } from '@/system/i18n/translate'

/** What to do about a failure or a refusal. */
export function hintText(t: Translate, code: string, told: string): string {
  return t.maybe(`hint.${code}`) ?? forPeople(told)
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
