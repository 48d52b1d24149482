/** Texts that are made from a code, with the server's own words where the page has none for it. */
import type { Translate } from '@/system/i18n/translate'

/** What to do about a failure or a refusal. */
export function hintText(t: Translate, code: string, told: string): string {
  return t.maybe(`hint.${code}`) ?? told
}
