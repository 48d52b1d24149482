import { type FormEvent, useState } from 'react'
import type { ServerState } from '@/system/generated/contracts'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsView } from '@/system/stores/settings-store'
import { Button } from '@/ui/button'
import { RadioGroup } from '@/ui/radio-group'
import { useT } from '../shared/surface'
import { ServerName, ServerProblem } from '../shared/tool-server'
import type { SettingsHandlers } from './settings-section'
import { type Entry, readEntries, readText, Section, SettingsRefusal, TextField } from './settings-section'

/** Tool servers with their state, and a form for a new one. */
export function ServersSection({ view, handlers }: { view: SettingsView; handlers: SettingsHandlers }) {
  const t = useT()
  const [adding, setAdding] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const entries = readEntries(view.read?.values, 'servers')
  const write = async (servers: readonly Entry[]) => {
    const refusal = await handlers.onWrite({ servers })
    setRefusal(refusal)
    return refusal
  }
  const states = view.servers ?? []
  const names = [
    ...new Set([...entries.map((entry) => readText(entry, 'name')), ...states.map((server) => server.name)]),
  ]
  return (
    <Section title={t('settings.servers')} hint={t('settings.servers_help')}>
      {names.length === 0 && <p className="text-ink-faint">{t('settings.no_servers')}</p>}
      <ul aria-label={t('settings.servers')} className="divide-y divide-line">
        {names.map((name) => (
          <Server
            key={name}
            name={name}
            state={states.find((server) => server.name === name) ?? null}
            onReconnect={async () => setRefusal(await handlers.onReconnect(name))}
            onRemove={
              entries.some((entry) => readText(entry, 'name') === name)
                ? () => void write(entries.filter((entry) => readText(entry, 'name') !== name))
                : null
            }
          />
        ))}
      </ul>
      <SettingsRefusal refusal={refusal} onReload={handlers.onReload} />
      {adding ? (
        <AddServer
          usedNames={names}
          onAdd={(entry) => write([...entries, entry])}
          onDone={() => setAdding(false)}
        />
      ) : (
        <Button look="outline" icon="plus" onClick={() => setAdding(true)}>
          {t('settings.add_server')}
        </Button>
      )}
    </Section>
  )
}

function Server(props: {
  readonly name: string
  readonly state: ServerState | null
  readonly onReconnect: () => Promise<unknown>
  readonly onRemove: (() => void) | null
}) {
  const t = useT()
  const { name, state } = props
  const [busy, setBusy] = useState(false)
  const reconnect = async () => {
    setBusy(true)
    await props.onReconnect()
    setBusy(false)
  }
  return (
    <li className="py-1.5">
      <div className="flex flex-wrap items-center gap-x-2">
        <ServerName name={name} state={state} />
        <span className="ml-auto flex">
          {state !== null && (
            <Button
              disabled={busy}
              onClick={() => void reconnect()}
              aria-label={t('settings.reconnect_of', { name })}
            >
              {t('settings.reconnect')}
            </Button>
          )}
          {props.onRemove !== null && (
            <Button onClick={props.onRemove} aria-label={t('settings.remove_of', { name })}>
              {t('settings.remove')}
            </Button>
          )}
        </span>
      </div>
      {state !== null && <ServerProblem state={state} />}
    </li>
  )
}

const EXAMPLE = 'npx\n-y\n@modelcontextprotocol/server-everything'
const TRANSPORTS = ['stdio', 'http'] as const

function AddServer(props: {
  readonly usedNames: readonly string[]
  readonly onAdd: (entry: Entry) => Promise<Refusal | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const [transport, setTransport] = useState<(typeof TRANSPORTS)[number]>('stdio')
  const [name, setName] = useState('')
  const [command, setCommand] = useState('')
  const [address, setAddress] = useState('')
  const [reportedProblem, setReportedProblem] = useState('')
  const commandWords = command
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const findProblem = () => {
    if (name.trim() === '') return t('settings.need_name')
    if (props.usedNames.includes(name.trim())) return t('settings.name_taken', { name: name.trim() })
    if (transport === 'stdio') return commandWords.length === 0 ? t('settings.need_command') : ''
    return /^https?:\/\/\S+$/.test(address.trim()) ? '' : t('settings.need_address')
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const problem = findProblem()
    setReportedProblem(problem)
    if (problem !== '') return
    const target = transport === 'stdio' ? { command: commandWords } : { url: address.trim() }
    if ((await props.onAdd({ transport, name: name.trim(), ...target })) === null) props.onDone()
  }
  return (
    <form
      aria-label={t('settings.add_server')}
      onSubmit={(event) => void submit(event)}
      className="space-y-2 rounded-lg border border-line-strong p-3"
    >
      <RadioGroup
        label={t('settings.transport')}
        value={transport}
        onChange={setTransport}
        choices={TRANSPORTS.map((value) => ({ value, label: t(`settings.transport.${value}`) }))}
      />
      <TextField label={t('settings.name')} value={name} onText={setName} spellCheck={false} maxLength={64} />
      {transport === 'stdio' ? (
        <label className="block">
          <span className="block text-sm text-ink-soft">{t('settings.command')}</span>
          <textarea
            rows={3}
            spellCheck={false}
            value={command}
            placeholder={EXAMPLE}
            onChange={(event) => setCommand(event.target.value)}
            className="field-sizing-content w-full rounded-md border border-line-strong bg-paper px-2 py-1 font-mono text-sm"
          />
        </label>
      ) : (
        <TextField
          label={t('settings.address')}
          value={address}
          onText={setAddress}
          spellCheck={false}
          maxLength={1000}
        />
      )}
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
