import type { ReactNode } from 'react'
import { markInvisible } from '@/system/format/exact-text'
import { Fields } from '@/system/format/fields'
import type { AskedChange, Reason } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'
import type { ActionRow } from '@/system/rows/model'
import { Disclosure } from '@/ui/disclosure'
import { Icon } from '@/ui/icon'
import { reasonsText, reasonText } from '../shared/code-texts'
import { type Names, useNames, useT } from '../shared/surface'

/**
 * What is asked, in the page's words where the row tells what they need. What the runtime itself said stands there as such: in sight
 * where it may say more than the row, such as what makes a call risky, and folded where it says the same in another language.
 * What hooks said stands there once: within the runtime's own words where these are in sight, and else by itself.
 */
export function Question({ action }: { action: ActionRow }) {
  const t = useT()
  const own = ownWords(t, action, useNames())
  const told = action.prompt === '' ? null : markInvisible(action.prompt)
  const english = t.locale.startsWith('en')
  const says = own === null ? 'more' : saysMore(action)
  const coded = action.reasons !== null
  const inSight = told !== null && (says === 'more' || (english && says === 'all' && !coded))
  const hooked = markInvisible(action.hooked)
  const at = told === null || !inSight ? -1 : placeOf(hooked, told)
  const said = told !== null && (
    <p lang="en" className="wrap-any whitespace-pre-wrap">
      {at < 0 ? told : <Marked text={told} at={at} length={hooked.length} />}
    </p>
  )
  return (
    <>
      {own !== null && !(english && inSight) && <p className="wrap-any">{own}</p>}
      {action.reasons !== null && !(english && inSight) && <Reasons reasons={action.reasons} />}
      {inSight && <Told english={english}>{said}</Told>}
      {!inSight && told !== null && says === 'all' && (
        <Disclosure title={t('action.runtime_words')}>
          <div className="text-ink-soft">{said}</div>
        </Disclosure>
      )}
      {at < 0 && <Hooked said={hooked} reasons={action.hookReasons} />}
    </>
  )
}

/** Where the words of hooks stand in the runtime's own, which begin a sentence with them; below 0 where they do not. */
function placeOf(hooked: string, told: string): number {
  return hooked === '' ? -1 : told.indexOf(hooked.slice(1)) - 1
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

/** What hooks said of the call: why it is asked about, or that it is not what the agent asked for. */
function Hooked({ said, reasons }: { readonly said: string; readonly reasons: readonly Reason[] }) {
  const t = useT()
  if (said === '') return null
  const coded = reasons.length > 0
  return (
    <p className="wrap-any flex items-baseline gap-1.5 text-sm text-warn">
      <Icon name="warning" size={12} />
      <span>
        {t('action.hooked')} <span {...(!coded && { lang: 'en' })}>{reasonsText(t, reasons, said)}</span>
      </span>
    </p>
  )
}

function Told({ english, children }: { readonly english: boolean; readonly children: ReactNode }) {
  const t = useT()
  if (english) return children
  return (
    <div className="text-sm text-ink-soft">
      <p className="text-ink-faint">{t('action.runtime_words')}</p>
      {children}
    </div>
  )
}

/** `nothing`: the page's words are all there is to it. `all`: the runtime says the same and maybe more. `more`: it surely does. */
function saysMore(action: ActionRow): 'nothing' | 'all' | 'more' {
  if (action.change !== null && action.change.differs === false) return 'nothing'
  if (action.reasons !== null) return action.change === null ? 'all' : 'nothing'
  if (action.risk === 'high') return 'more'
  return action.change !== null && action.policy === 'ask' ? 'nothing' : 'all'
}

function ownWords(t: Translate, action: ActionRow, names: Names): string | null {
  if (action.change !== null) return changeWords(t, action.change)
  if (action.tool === 'Bash') return commandWords(t, action.risk)
  const asked = Fields.of(action.arguments.text)
  const agent = asked.text('agent') || asked.text('name') || asked.text('source') || action.agentId
  const target = asked.text('to')
  return t.maybe(`action.ask.${action.tool}`, { agent: names.agent(agent), target: names.agent(target) })
}

/** The risk of a command says what holds it: it can write nothing, it can change the folder, or there is more to it. */
function commandWords(t: Translate, risk: ActionRow['risk']): string {
  if (risk === 'low') return t('action.ask.command_reads')
  return t(risk === 'medium' ? 'action.ask.command_held' : 'action.ask.command')
}

function changeWords(t: Translate, change: AskedChange): string {
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

/** What the session's permission means, in a sentence; a policy of another kind is named. Where a reason says more, it is left out. */
export function Policy({ policy, reasons }: Pick<ActionRow, 'policy' | 'reasons'>) {
  const t = useT()
  if (policy === '' || reasons?.some(({ code }) => code !== 'destroys')) return null
  return (
    <p className="text-sm text-ink-faint">
      {t.maybe(`action.policy.${policy}`) ?? t('action.policy', { policy })}
    </p>
  )
}

/** What would hold the call in. Nothing is said where nobody knows, and "nothing" is said as that. */
export function Held({ sandbox, network }: Pick<ActionRow, 'sandbox' | 'network'>) {
  const t = useT()
  if (sandbox === null) return null
  const reach = sandbox === 'paths' ? '' : t(network ? 'action.held.network' : 'action.held.no_network')
  const loud = sandbox === 'none' || network
  return (
    <p className={`flex items-center gap-1.5 text-sm ${loud ? 'text-warn' : 'text-ink-faint'}`}>
      <Icon name={loud ? 'warning' : 'shield'} size={12} />
      <span>
        {t(`action.held.${sandbox}`)} {reach}
      </span>
    </p>
  )
}

/** Why a person is asked, and what is at stake, in the language of the page. */
export function Reasons({ reasons }: { readonly reasons: readonly Reason[] }) {
  const t = useT()
  if (reasons.length === 0) return null
  return (
    <ul aria-label={t('action.reasons')} className="space-y-0.5 text-sm text-warn">
      {reasons.map((reason) => (
        <li key={reason.code} className="flex items-start gap-1.5">
          <Icon name="warning" size={12} className="mt-[3px] shrink-0" />
          <span className="wrap-any min-w-0">{reasonText(t, reason)}</span>
        </li>
      ))}
    </ul>
  )
}
