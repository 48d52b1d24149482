import { type FormEvent, useRef, useState } from 'react'
import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { RadioGroup } from '@/ui/radio-group'
import { useT } from '../shared/surface'
import type { SettingsHandlers } from './settings-section'
import { type Entry, SettingsRefusal, TextField } from './settings-section'

const KINDS = ['anthropic', 'google', 'openai', 'openai-compatible'] as const
type Kind = (typeof KINDS)[number]
const KEYS = ['keyring', 'variable', 'none'] as const
/** The environment variable that each provider's own tools read. */
const VARIABLES: Readonly<Record<Kind, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GEMINI_API_KEY',
  openai: 'OPENAI_API_KEY',
  'openai-compatible': '',
}

/** An example address of a local model server. */
const EXAMPLE = 'http://127.0.0.1:11434/v1'
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/

/** Connects a model. The key goes from its field to the keyring and is not kept in the page. */
export function AddModel(props: {
  readonly usedNames: readonly string[]
  /** Why the keyring is unavailable; empty if it is available. */
  readonly noKeyring: string
  readonly onKeep: SettingsHandlers['onStoreSecret']
  readonly onAdd: (entry: Entry) => Promise<Refusal | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const [kind, setKind] = useState<Kind>('anthropic')
  const [name, setName] = useState('')
  const [model, setModel] = useState('')
  const [address, setAddress] = useState('')
  // Without a keyring, do not ask for a key.
  const defaultKeySource = props.noKeyring === '' ? 'keyring' : 'variable'
  const [chosenKeyIn, setKeyIn] = useState<(typeof KEYS)[number]>(defaultKeySource)
  const [variable, setVariable] = useState('')
  const [reportedProblem, setReportedProblem] = useState('')
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const [busy, setBusy] = useState(false)
  const key = useRef<HTMLInputElement>(null)
  const compatible = kind === 'openai-compatible'
  const entryName = name.trim() || kind
  const isOffered = (value: (typeof KEYS)[number]) =>
    value === 'none' ? compatible : value === 'variable' || props.noKeyring === ''
  const keyIn = isOffered(chosenKeyIn) ? chosenKeyIn : defaultKeySource
  const findProblem = () => {
    if (model.trim() === '') return t('settings.need_model')
    if (!NAME.test(entryName)) return t('settings.need_name')
    if (props.usedNames.includes(entryName)) return t('settings.name_taken', { name: entryName })
    if (compatible && !/^https?:\/\/\S+$/.test(address.trim())) return t('settings.need_address')
    if (keyIn === 'keyring' && (key.current?.value ?? '') === '') return t('settings.need_key')
    return ''
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const problem = findProblem()
    setReportedProblem(problem)
    if (problem !== '' || busy) return
    setBusy(true)
    setRefusal(await send())
    setBusy(false)
  }
  const send = async (): Promise<Refusal | null> => {
    let credential: Entry = {}
    if (keyIn === 'variable') credential = { api_key_env: variable.trim() || VARIABLES[kind] }
    if (keyIn === 'keyring' && key.current !== null) {
      const stored = await props.onKeep(entryName.replace(/[.:]/g, '-'), key.current.value)
      if (!('handle' in stored)) return stored
      key.current.value = ''
      credential = { api_key: stored.handle }
    }
    const server = address.trim() === '' ? {} : { base_url: address.trim() }
    const refusal = await props.onAdd({
      kind,
      name: entryName,
      model: model.trim(),
      ...server,
      ...credential,
    })
    if (refusal === null) props.onDone()
    return refusal
  }
  return (
    <form
      onSubmit={(event) => void submit(event)}
      aria-label={t('settings.add_model')}
      className="space-y-2 rounded-lg border border-line-strong p-3"
    >
      <RadioGroup
        label={t('settings.kind')}
        value={kind}
        onChange={(next) => {
          setKind(next)
          if (next === 'openai-compatible') setKeyIn('none')
          else if (keyIn === 'none') setKeyIn(defaultKeySource)
        }}
        choices={KINDS.map((value) => ({ value, label: t(`settings.kind.${value}`) }))}
      />
      <div className="grid grid-cols-2 gap-2 max-sm:grid-cols-1">
        <TextField
          label={t('settings.model')}
          value={model}
          onText={setModel}
          spellCheck={false}
          maxLength={200}
        />
        <TextField
          label={t('settings.name')}
          value={name}
          onText={setName}
          placeholder={kind}
          spellCheck={false}
          maxLength={64}
        />
        {compatible && (
          <TextField
            className="col-span-full"
            label={t('settings.address')}
            value={address}
            onText={setAddress}
            placeholder={EXAMPLE}
            spellCheck={false}
            maxLength={1000}
          />
        )}
      </div>
      <RadioGroup
        label={t('settings.key_in')}
        value={keyIn}
        onChange={setKeyIn}
        choices={KEYS.filter(isOffered).map((value) => ({
          value,
          label: t(`settings.key_in.${value}`),
        }))}
      />
      {keyIn === 'keyring' && (
        <label className="block">
          <span className="block text-sm text-ink-soft">{t('settings.key')}</span>
          <input
            ref={key}
            type="password"
            autoComplete="off"
            spellCheck={false}
            maxLength={65_536}
            className="h-7 w-full rounded-md border border-line-strong bg-paper px-2"
          />
          <span className="block text-sm text-ink-faint">{t('settings.key_help')}</span>
        </label>
      )}
      {keyIn === 'variable' && (
        <TextField
          label={t('settings.variable')}
          value={variable}
          onText={setVariable}
          placeholder={VARIABLES[kind] || 'MY_API_KEY'}
          spellCheck={false}
          maxLength={200}
        />
      )}
      {props.noKeyring !== '' && <p className="wrap-any text-sm text-ink-faint">{props.noKeyring}</p>}
      {reportedProblem !== '' && (
        <p role="alert" className="text-bad">
          {reportedProblem}
        </p>
      )}
      <SettingsRefusal refusal={refusal} onReload={props.onDone} />
      <div className="flex justify-end gap-2">
        <Button onClick={props.onDone}>{t('app.cancel')}</Button>
        <Button type="submit" look="solid" disabled={busy}>
          {t('settings.connect')}
        </Button>
      </div>
    </form>
  )
}
