import type { Translate } from '@/system/i18n/translate'
import type { ToolPart } from '@/system/rows/model'
import { reasonsText } from '../shared/reason-text'

/** What there is to say of a call that came to no good end: in the page's words where its code has any. */
export function messageOf(t: Translate, part: ToolPart): string {
  if (part.code === 'tool_failed' && part.exitCode !== null && part.exitCode !== 0) {
    return t('explain.exit', { code: part.exitCode })
  }
  const denied = part.verdict === 'deny' ? part.checks.find(({ verdict }) => verdict === 'deny') : undefined
  return t.maybe(`explain.${part.code}`) ?? reasonsText(t, denied?.reasons, part.message)
}
