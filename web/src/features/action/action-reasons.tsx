import type { ReactNode } from 'react'
import { markInvisible } from '@/system/format/exact-text'
import { Fields } from '@/system/format/fields'
import type { Reason, RequestedChange } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'
import type { ActionRow } from '@/system/rows/model'
import { Disclosure } from '@/ui/disclosure'
import { Icon } from '@/ui/icon'
import { describeReason, describeReasons } from '../shared/code-texts'
import { type Names, useNames, useT } from '../shared/surface'

/**
 * Why a person is asked, in the page's language if the row has the data. The runtime's own text is
 * shown open if it may add details, such as why a call is risky, and folded if it only repeats the row
 * in English. Texts of hooks appear once: within the runtime's text if that is open, else alone.
 */
export function ActionReasons({ action }: { action: ActionRow }) {
  const t = useT()
  const summary = describeSummary(t, action, useNames())
  const runtimeText = action.prompt === '' ? null : markInvisible(action.prompt)
  const english = t.locale.startsWith('en')
  const detail = summary === null ? 'more' : classifyRuntimeDetail(action)
  const hasReasons = action.reasons !== null
  const isOpen = runtimeText !== null && (detail === 'more' || (english && detail === 'all' && !hasReasons))
  const hookText = markInvisible(action.hooked)
  const at = runtimeText === null || !isOpen ? -1 : findHookText(hookText, runtimeText)
  const paragraph = runtimeText !== null && (
    <p lang="en" className="wrap-any whitespace-pre-wrap">
      {at < 0 ? runtimeText : <Marked text={runtimeText} at={at} length={hookText.length} />}
    </p>
  )
  return (
    <>
      {summary !== null && !(english && isOpen) && <p className="wrap-any">{summary}</p>}
      {action.reasons !== null && !(english && isOpen) && <Reasons reasons={action.reasons} />}
      {isOpen && <RuntimeText english={english}>{paragraph}</RuntimeText>}
      {!isOpen && runtimeText !== null && detail === 'all' && (
        <Disclosure title={t('action.request_text')}>
          <div className="text-ink-soft">{paragraph}</div>
        </Disclosure>
      )}
      {at < 0 && <HookTexts text={hookText} reasons={action.hookReasons} />}
    </>
  )
}

/**
 * The position of a hook's text in the runtime's text, where it begins a sentence; negative if
 * absent.
 */
function findHookText(hookText: string, runtimeText: string): number {
  return hookText === '' ? -1 : runtimeText.indexOf(hookText.slice(1)) - 1
}

function Marked({
  text,
  at,
  length,
}: {
  readonly text: string
  readonly at: number
  readonly length: number
}) {
  return (
    <>
      {text.slice(0, at)}
      <span className="text-warn">{text.slice(at, at + length)}</span>
      {text.slice(at + length)}
    </>
  )
}

/** Texts of hooks: why they ask, or that they changed the call. */
function HookTexts({ text, reasons }: { readonly text: string; readonly reasons: readonly Reason[] }) {
  const t = useT()
  if (text === '') return null
  const hasReasons = reasons.length > 0
  return (
    <p className="wrap-any flex items-baseline gap-1.5 text-sm text-warn">
      <Icon name="warning" size={12} />
      <span>
        {t('action.hooks')}{' '}
        <span {...(!hasReasons && { lang: 'en' })}>{describeReasons(t, reasons, text)}</span>
      </span>
    </p>
  )
}

function RuntimeText({ english, children }: { readonly english: boolean; readonly children: ReactNode }) {
  const t = useT()
  if (english) return children
  return (
    <div className="text-sm text-ink-soft">
      <p className="text-ink-faint">{t('action.request_text')}</p>
      {children}
    </div>
  )
}

/**
 * What the runtime's text adds. `nothing`: no details. `all`: the same and perhaps more. `more`:
 * further details.
 */
function classifyRuntimeDetail(action: ActionRow): 'nothing' | 'all' | 'more' {
  if (action.change !== null && action.change.differs === false) return 'nothing'
  if (action.reasons !== null) return action.change === null ? 'all' : 'nothing'
  if (action.risk === 'high') return 'more'
  return action.change !== null && action.policy === 'ask' ? 'nothing' : 'all'
}

function describeSummary(t: Translate, action: ActionRow, names: Names): string | null {
  if (action.change !== null) return describeChange(t, action.change)
  if (action.tool === 'Bash') return describeCommand(t, action.risk)
  const fields = Fields.parse(action.arguments.text)
  const agent =
    fields.getText('agent') || fields.getText('name') || fields.getText('source') || action.agentId
  const target = fields.getText('to')
  return t.find(`action.ask.${action.tool}`, {
    agent: names.nameAgent(agent),
    target: names.nameAgent(target),
  })
}

/** Describe the sandbox of a command by its risk: read-only, may change the folder, or more. */
function describeCommand(t: Translate, risk: ActionRow['risk']): string {
  if (risk === 'low') return t('action.ask.command_reads')
  return t(risk === 'medium' ? 'action.ask.command_writes' : 'action.ask.command')
}

function describeChange(t: Translate, change: RequestedChange): string {
  const path = markInvisible(change.path)
  if (change.differs === false) return t('action.ask.same', { path })
  const { added = null, removed = null } = change
  if (change.creates) {
    return added === null
      ? t('action.ask.create', { path })
      : t.count('action.ask.create_lines', added, { path })
  }
  if (added === null || removed === null) return t('action.ask.change', { path })
  return t.count('action.ask.change_lines', added, { path, removed })
}

/**
 * The session's permission mode in a sentence, or the name of another policy. Hidden if a reason is
 * more specific.
 */
export function PolicyLine({ policy, reasons }: Pick<ActionRow, 'policy' | 'reasons'>) {
  const t = useT()
  if (policy === '' || reasons?.some(({ code }) => code !== 'destroys')) return null
  return (
    <p className="text-sm text-ink-faint">
      {t.find(`action.policy.${policy}`) ?? t('action.policy', { policy })}
    </p>
  )
}

/** The sandbox of the call. Hidden if unknown; "none" is shown as such. */
export function SandboxLine({ sandbox, network }: Pick<ActionRow, 'sandbox' | 'network'>) {
  const t = useT()
  if (sandbox === null) return null
  const level = sandbox === 'paths' || !network ? sandbox : (`${sandbox}_network` as const)
  const isWarning = sandbox === 'none' || network
  return (
    <p className={`flex items-center gap-1.5 text-sm ${isWarning ? 'text-warn' : 'text-ink-faint'}`}>
      <Icon name={isWarning ? 'warning' : 'shield'} size={12} />
      <span>{t(`action.sandbox.${level}`)}</span>
    </p>
  )
}

/** Reasons for the question, in the page's language. */
export function Reasons({ reasons }: { readonly reasons: readonly Reason[] }) {
  const t = useT()
  if (reasons.length === 0) return null
  return (
    <ul aria-label={t('action.reasons')} className="space-y-0.5 text-sm text-warn">
      {reasons.map((reason) => (
        <li key={reason.code} className="flex items-start gap-1.5">
          <Icon name="warning" size={12} className="mt-[3px] shrink-0" />
          <span className="wrap-any min-w-0">{describeReason(t, reason)}</span>
        </li>
      ))}
    </ul>
  )
}
