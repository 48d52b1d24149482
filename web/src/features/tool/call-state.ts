/** The state of a call, as text and colour. */
import type { Translate } from '@/system/i18n/translate'
import type { ToolPart } from '@/system/rows/model'
import { wasRejected } from '@/system/selectors/activity'
import { describeReasons } from '../shared/code-texts'

/** The state as text. The code distinguishes a refusal, an unknown outcome and a failure. */
export function describeCallState(t: Translate, part: ToolPart, waiting: boolean): string {
  if (waiting) return t('tool.waiting')
  // The line of the request names who rejected the call.
  if (part.code === 'person_denied') return t('verdict.rejected')
  if (part.exitCode !== null && part.exitCode !== 0) return t('tool.exit', { code: part.exitCode })
  const code = part.code === '' ? null : t.find(`code.${part.code}`)
  if (code !== null) return code
  return t(`tool.state.${part.state}`)
}

export function chooseTone(part: ToolPart, waiting: boolean): string {
  if (waiting) return 'text-warn'
  if (wasRejected(part)) return 'text-ink-soft'
  return part.state === 'output-error' ? 'text-bad' : 'text-ink-faint'
}

/** The message of an unsuccessful call, from the page if it has a text for the code. */
export function describeResult(t: Translate, part: ToolPart): string {
  if (part.code === 'tool_failed' && part.exitCode !== null && part.exitCode !== 0) {
    return t('explain.exit', { code: part.exitCode })
  }
  const denied = part.verdict === 'deny' ? part.checks.find(({ verdict }) => verdict === 'deny') : undefined
  return t.find(`explain.${part.code}`) ?? describeReasons(t, denied?.reasons, part.message)
}
