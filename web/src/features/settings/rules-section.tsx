import { type FormEvent, useState } from 'react'
import { stripTerminalCodes } from '@/system/format/ansi'
import { formatClockTime } from '@/system/format/numbers'
import type { DryRunResult, ListedRule } from '@/system/generated/contracts'
import { VERDICTS, type Verdict } from '@/system/generated/contracts'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsView } from '@/system/stores/settings-store'
import { Button } from '@/ui/button'
import { Badge, type Tone } from '@/ui/marks'
import { RadioGroup } from '@/ui/radio-group'
import { useT } from '../shared/surface'
import type { SettingsHandlers } from './settings-section'
import { Section, SettingsRefusal, TextField } from './settings-section'

const TONES: Readonly<Record<Verdict, Tone>> = { allow: 'good', ask: 'warn', deny: 'bad' }

const EXAMPLE = 'Bash(git status*)'

/** Rules in effect, a preview of a rule against past calls, and a form for a new rule. */
export function RulesSection({ view, handlers }: { view: SettingsView; handlers: SettingsHandlers }) {
  const t = useT()
  const [matcher, setMatcher] = useState('')
  const [verdict, setVerdict] = useState<Verdict>('ask')
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const [busy, setBusy] = useState(false)
  const rule = { matcher: matcher.trim(), verdict }
  const run = async (work: () => Promise<Refusal | null>) => {
    setBusy(true)
    const refusal = await work()
    setBusy(false)
    setRefusal(refusal)
    return refusal
  }
  const add = async (event: FormEvent) => {
    event.preventDefault()
    if (rule.matcher === '' || busy) return
    if ((await run(() => handlers.onAddRule(rule))) === null) setMatcher('')
  }
  return (
    <Section title={t('settings.rules')} hint={t('settings.rules_help')}>
      <RuleEntryRow
        rules={view.rules}
        busy={busy}
        onRevoke={(ruleId) => void run(() => handlers.onRevokeRule(ruleId))}
      />
      <form onSubmit={(event) => void add(event)} className="space-y-2 rounded-lg border border-line p-3">
        <TextField
          label={t('settings.matcher')}
          value={matcher}
          onText={setMatcher}
          placeholder={EXAMPLE}
          spellCheck={false}
          maxLength={500}
        />
        <div className="flex flex-wrap items-center gap-2">
          <RadioGroup
            label={t('settings.verdict')}
            value={verdict}
            onChange={setVerdict}
            choices={VERDICTS.map((value) => ({ value, label: t(`settings.verdict.${value}`) }))}
          />
          <span className="flex-1" />
          <Button
            look="outline"
            disabled={busy || rule.matcher === ''}
            onClick={() => void run(() => handlers.onTryRules([rule]))}
          >
            {t('settings.try_rule')}
          </Button>
          <Button type="submit" look="solid" disabled={busy || rule.matcher === ''}>
            {t('settings.add_rule')}
          </Button>
        </div>
        <SettingsRefusal refusal={refusal} onReload={handlers.onReload} />
        {view.tried !== null && <RulePreview tried={view.tried} />}
      </form>
    </Section>
  )
}

function RuleEntryRow(props: {
  readonly rules: readonly ListedRule[] | null
  readonly busy: boolean
  readonly onRevoke: (ruleId: string) => void
}) {
  const t = useT()
  const { rules } = props
  if (rules === null) return <p className="text-ink-faint">{t('tool.loading')}</p>
  if (rules.length === 0) return <p className="text-ink-faint">{t('settings.no_rules')}</p>
  return (
    <ul aria-label={t('settings.rules')} className="divide-y divide-line">
      {rules.map((rule) => (
        <li key={rule.ruleId} className="flex flex-wrap items-center gap-x-2 py-1">
          <Badge tone={TONES[rule.verdict]}>{t(`settings.verdict.${rule.verdict}`)}</Badge>
          <span className="wrap-any min-w-0 font-mono text-sm">{stripTerminalCodes(rule.matcher)}</span>
          <span className="wrap-any text-sm text-ink-faint">
            {t.find(`settings.scope.${rule.scope}`) ?? rule.scope}
            {(rule.expiresAt ?? 0) > 0 &&
              ` · ${t('settings.until', { time: formatClockTime(rule.expiresAt ?? 0, t.locale) })}`}
          </span>
          <Button
            className="ml-auto"
            disabled={props.busy}
            onClick={() => props.onRevoke(rule.ruleId)}
            aria-label={t('settings.revoke_of', { name: rule.matcher })}
          >
            {t('settings.revoke')}
          </Button>
          {rule.source && (
            <span className="wrap-any w-full font-mono text-xs text-ink-faint">{rule.source}</span>
          )}
          {rule.heldBack && <span className="w-full text-sm text-warn">{rule.heldBack}</span>}
        </li>
      ))}
    </ul>
  )
}

/** The verdicts of a previewed rule, and how many past calls were checked. */
function RulePreview({ tried }: { tried: DryRunResult }) {
  const t = useT()
  const turned = Object.entries(tried.turned).filter(([, count]) => count > 0)
  return (
    <div role="status" className="space-y-1 rounded-md bg-sunken px-3 py-2">
      <p>
        {t.count('settings.preview', tried.calls, { sessions: tried.sessions })}
        {!tried.whole && ` ${t('settings.preview_partial')}`}
      </p>
      {tried.rules.map((rule) => (
        <p key={`${rule.matcher} ${rule.verdict}`} className="text-ink-soft">
          {t.count('settings.preview_matches', rule.calls)}
        </p>
      ))}
      {turned.length === 0 && <p className="text-ink-soft">{t('settings.preview_unchanged')}</p>}
      <ul>
        {turned.map(([would, count]) => (
          <li key={would} className="font-medium">
            {t.count('settings.preview_changes', count, {
              would: t.find(`settings.preview_verdict.${would}`) ?? would,
            })}
          </li>
        ))}
      </ul>
      {tried.examples.length > 0 && (
        <ul aria-label={t('settings.preview_examples')} className="text-sm">
          {tried.examples.map((call) => (
            <li key={call.toolCallId} className="flex gap-2">
              <span className="font-medium">{call.tool}</span>
              <span className="min-w-0 flex-1 truncate font-mono">{stripTerminalCodes(call.subject)}</span>
              <span className="text-ink-faint">
                {t('settings.preview_change', {
                  was: t(`settings.verdict.${call.was}`),
                  would: t(`settings.verdict.${call.would}`),
                })}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
