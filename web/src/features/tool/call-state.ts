/** How a call stands, in words and in colour: the same wherever the call is told of. */
import type { Translate } from '@/system/i18n/translate'
import type { ToolPart } from '@/system/rows/model'
import { wasRefused } from '@/system/selectors/activity'

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
