import type { Translate } from '@/system/i18n/translate'
import type { ToolPart } from '@/system/rows/model'

/** What there is to say of a call that came to no good end: in the page's words where its code has any. */
export function messageOf(t: Translate, part: ToolPart): string {
  if (part.code === 'tool_failed' && part.exitCode !== null && part.exitCode !== 0) {
    return t('explain.exit', { code: part.exitCode })
  }
  return t.maybe(`explain.${part.code}`) ?? part.message
}
