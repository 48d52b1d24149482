/** How a call stands, in words and in colour: the same wherever the call is told of. */
import type { Translate } from '@/system/i18n/translate'
import type { ToolPart } from '@/system/rows/model'
import { wasRefused } from '@/system/selectors/activity'
import { reasonsText } from '../shared/code-texts'

/** A refusal, an unknown outcome and a failure are different things; the code says which. */
export function stateText(t: Translate, part: ToolPart, waiting: boolean): string {
  if (waiting) return t('tool.waiting')
  // Who said no stands in the line of the request; here it is only that nothing ran.
  if (part.code === 'person_denied') return t('tool.not_run')
  if (part.exitCode !== null && part.exitCode !== 0) return t('tool.exit', { code: part.exitCode })
  const code = part.code === '' ? null : t.maybe(`code.${part.code}`)
  if (code !== null) return code
  return t(`tool.state.${part.state}`)
}

export function stateTone(part: ToolPart, waiting: boolean): string {
  if (waiting) return 'text-warn'
  if (wasRefused(part)) return 'text-ink-soft'
  return part.state === 'output-error' ? 'text-bad' : 'text-ink-faint'
}

/** What there is to say of a call that came to no good end: in the page's words where its code has any. */
export function messageOf(t: Translate, part: ToolPart): string {
  if (part.code === 'tool_failed' && part.exitCode !== null && part.exitCode !== 0) {
    return t('explain.exit', { code: part.exitCode })
  }
  const denied = part.verdict === 'deny' ? part.checks.find(({ verdict }) => verdict === 'deny') : undefined
  return t.maybe(`explain.${part.code}`) ?? reasonsText(t, denied?.reasons, part.message)
}
