import { type FormEvent, useState } from 'react'
import { markInvisible } from '@/system/format/exact-text'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsView } from '@/system/stores/settings-store'
import { Button } from '@/ui/button'
import { useT } from '../shared/surface'
import type { SettingsHandlers } from './settings-section'
import { type Entry, readEntries, readText, Section, SettingsRefusal, TextField } from './settings-section'

/** Example values, the same in every language. */
const CALLS = 'Bash\nEdit(src/**)'
const PROGRAM = 'python3\n/home/me/hooks/guard.py'

/** Hooks with their matchers, and a form for a new one. */
export function HooksSection({ view, handlers }: { view: SettingsView; handlers: SettingsHandlers }) {
  const t = useT()
  const [adding, setAdding] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const entries = readEntries(view.read?.values, 'hooks')
  const write = async (hooks: readonly Entry[]) => {
    const refusal = await handlers.onWrite({ hooks })
    setRefusal(refusal)
    return refusal
  }
  return (
    <Section title={t('settings.hooks')} hint={t('settings.hooks_help')}>
      {entries.length === 0 && <p className="text-ink-faint">{t('settings.no_servers')}</p>}
      <ul aria-label={t('settings.hooks')} className="divide-y divide-line">
        {entries.map((entry) => (
          <li key={readText(entry, 'name')} className="flex flex-wrap items-baseline gap-x-2 py-1.5">
            <span className="font-medium">{readText(entry, 'name')}</span>
            <span className="wrap-any min-w-0 flex-1 font-mono text-sm text-ink-soft">
              {readTexts(entry, 'tools').join(', ') || '*'} →{' '}
              {markInvisible(readTexts(entry, 'command').join(' '))}
            </span>
            <Button
              onClick={() => void write(entries.filter((other) => other !== entry))}
              aria-label={t('settings.remove_of', { name: readText(entry, 'name') })}
            >
              {t('settings.remove')}
            </Button>
          </li>
        ))}
      </ul>
      <SettingsRefusal refusal={refusal} onReload={handlers.onReload} />
      {adding ? (
        <AddHook
          usedNames={entries.map((entry) => readText(entry, 'name'))}
          onAdd={(entry) => write([...entries, entry])}
          onDone={() => setAdding(false)}
        />
      ) : (
        <Button look="outline" icon="plus" onClick={() => setAdding(true)}>
          {t('settings.add_hook')}
        </Button>
      )}
    </Section>
  )
}

function AddHook(props: {
  readonly usedNames: readonly string[]
  readonly onAdd: (entry: Entry) => Promise<Refusal | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const [name, setName] = useState('')
  const [tools, setTools] = useState('*')
  const [command, setCommand] = useState('')
  const [reportedProblem, setReportedProblem] = useState('')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const hookName = name.trim()
    const commandWords = splitLines(command)
    const problem =
      hookName === ''
        ? t('settings.need_name')
        : props.usedNames.includes(hookName)
          ? t('settings.name_taken', { name: hookName })
          : commandWords.length === 0
            ? t('settings.need_command')
            : ''
    setReportedProblem(problem)
    if (problem !== '') return
    const matchers = splitLines(tools)
    const entry = { name: hookName, ...(matchers.length > 0 && { tools: matchers }), command: commandWords }
    if ((await props.onAdd(entry)) === null) props.onDone()
  }
  return (
    <form
      aria-label={t('settings.add_hook')}
      onSubmit={(event) => void submit(event)}
      className="space-y-2 rounded-lg border border-line-strong p-3"
    >
      <TextField label={t('settings.name')} value={name} onText={setName} spellCheck={false} maxLength={64} />
      <Lines label={t('settings.hook_tools')} text={tools} example={CALLS} onText={setTools} />
      <Lines label={t('settings.command')} text={command} example={PROGRAM} onText={setCommand} />
      {reportedProblem !== '' && (
        <p role="alert" className="text-bad">
          {reportedProblem}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={props.onDone}>{t('app.cancel')}</Button>
        <Button type="submit" look="solid">
          {t('settings.add')}
        </Button>
      </div>
    </form>
  )
}

function Lines(props: {
  readonly label: string
  readonly text: string
  readonly example: string
  readonly onText: (text: string) => void
}) {
  return (
    <label className="block">
      <span className="block text-sm text-ink-soft">{props.label}</span>
      <textarea
        rows={2}
        spellCheck={false}
        value={props.text}
        placeholder={props.example}
        onChange={(event) => props.onText(event.target.value)}
        className="field-sizing-content w-full rounded-md border border-line-strong bg-paper px-2 py-1 font-mono text-sm"
      />
    </label>
  )
}

function splitLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
}

function readTexts(entry: Entry, key: string): readonly string[] {
  const list = entry[key]
  return Array.isArray(list) ? list.filter((value): value is string => typeof value === 'string') : []
}
