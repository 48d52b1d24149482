import { useState } from 'react'
import { buildModelEntry } from '@/system/format/names'
import { formatDuration } from '@/system/format/numbers'
import type { ConfiguredModel, FoundModel, ModelTested } from '@/system/generated/contracts'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsView } from '@/system/stores/settings-store'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Badge, Dot } from '@/ui/marks'
import { useT } from '../shared/surface'
import { AddModel } from './add-model'
import { Fallback } from './fallback-models'
import type { SettingsHandlers } from './settings-handlers'
import { type Entry, entriesOf, Section, Told, textOf } from './settings-section'

/** The models that can be asked, those that are found beside them, and who is asked where one fails. */
export function ModelsSection({ shown, handlers }: { shown: SettingsView; handlers: SettingsHandlers }) {
  const t = useT()
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const [adding, setAdding] = useState(false)
  const { models, read } = shown
  const entries = entriesOf(read?.values, 'models')
  const write = async (changes: Entry) => {
    const refusal = await handlers.onWrite(changes)
    setRefusal(refusal)
    return refusal
  }
  const withOne = (entry: Entry) => ({ models: [...entries, entry] })
  const remove = (name: string) =>
    void write({ models: entries.filter((entry) => textOf(entry, 'name') !== name) })
  const found = (models?.found ?? []).filter((model) => model.configured !== true)
  return (
    <>
      <Section title={t('settings.models')} how={t('settings.models_how')}>
        {models === null && <p className="text-ink-faint">{t('tool.loading')}</p>}
        <ul aria-label={t('settings.models')} className="divide-y divide-line">
          {(models?.configured ?? []).map((model) => {
            const entry = entries.find((entry) => textOf(entry, 'name') === model.provider)
            return (
              <Model
                key={model.name}
                model={model}
                tested={shown.tested[model.name] ?? null}
                onTest={() => handlers.onTest(model.name)}
                onRemove={entry === undefined ? null : () => remove(model.provider)}
              />
            )
          })}
        </ul>
        <Told refusal={refusal} onReload={handlers.onReload} />
        {adding ? (
          <AddModel
            taken={entries.map((entry) => textOf(entry, 'name'))}
            noKeyring={shown.noKeyring}
            onKeep={handlers.onKeep}
            onAdd={(entry) => handlers.onWrite(withOne(entry))}
            onDone={() => setAdding(false)}
          />
        ) : (
          <Button look="outline" icon="plus" onClick={() => setAdding(true)}>
            {t('settings.add_model')}
          </Button>
        )}
      </Section>
      {found.length > 0 && (
        <Section title={t('settings.found')} how={t('settings.found_how')}>
          <ul aria-label={t('settings.found')} className="divide-y divide-line">
            {found.map((model) => (
              <Found
                key={`${model.kind} ${model.where}`}
                found={model}
                taken={entries.map((entry) => textOf(entry, 'name'))}
                onAdd={(entry) => write(withOne(entry))}
              />
            ))}
          </ul>
        </Section>
      )}
      <Fallback shown={shown} onWrite={write} />
    </>
  )
}

function Model(props: {
  readonly model: ConfiguredModel
  readonly tested: ModelTested | 'testing' | null
  readonly onTest: () => void
  readonly onRemove: (() => void) | null
}) {
  const t = useT()
  const { model, tested } = props
  const testing = tested === 'testing'
  const failed = tested !== null && tested !== 'testing' && !tested.ok
  // What searches in place of a model is asked nothing.
  const standsIn = model.provider === 'offline'
  return (
    <li className="py-1.5">
      <div className="flex flex-wrap items-center gap-x-2">
        <Dot tone={failed ? 'bad' : model.usable ? 'good' : 'warn'} />
        <span className="wrap-any font-medium">{model.label || model.name}</span>
        {!standsIn && <span className="wrap-any text-sm text-ink-faint">{model.name}</span>}
        {model.default === true && <Badge tone="accent">{t('settings.default')}</Badge>}
        {(model.fallback ?? 0) > 0 && (
          <Badge>{t('settings.fallback_place', { place: model.fallback ?? 0 })}</Badge>
        )}
        <span className="ml-auto flex">
          <Button
            disabled={testing}
            onClick={props.onTest}
            aria-label={t('settings.test_of', { name: model.name })}
          >
            {t(testing ? 'settings.testing' : 'settings.test')}
          </Button>
          {props.onRemove !== null && (
            <Button onClick={props.onRemove} aria-label={t('settings.remove_of', { name: model.name })}>
              {t('settings.remove')}
            </Button>
          )}
        </span>
      </div>
      {!model.usable && <p className="wrap-any pl-4 text-ink-soft">{model.why}</p>}
      {tested !== null && tested !== 'testing' && <Tested tested={tested} />}
    </li>
  )
}

/** What came of asking it, or what is wrong and what to do. */
export function Tested({ tested }: { tested: ModelTested }) {
  const t = useT()
  const { problem } = tested
  if (tested.ok) {
    const took = formatDuration(tested.durationMs ?? 0, t.locale)
    return (
      <p role="status" className="wrap-any pl-4 text-good">
        {t('settings.test_ok', { time: took })} <q className="text-ink-soft">{tested.text ?? ''}</q>
      </p>
    )
  }
  return (
    <div role="status" className="wrap-any pl-4 text-bad">
      <p>{(problem && t.maybe(`code.${problem.code}`)) ?? t('settings.test_failed')}</p>
      <p className="text-ink-soft">{problem?.message}</p>
      {problem?.hint && <p className="text-ink-soft">{problem.hint}</p>}
    </div>
  )
}

/** Something that could be connected, with one click where nothing more is needed. */
export function Found(props: {
  readonly found: FoundModel
  readonly taken: readonly string[]
  readonly onAdd: (entry: Entry) => Promise<unknown>
}) {
  const t = useT()
  const { found, taken } = props
  const [busy, setBusy] = useState(false)
  const offered = found.models ?? []
  const [model, setModel] = useState(offered[0] ?? '')
  const addable = Object.keys(found.entry ?? {}).length > 0
  const add = async () => {
    setBusy(true)
    await props.onAdd(buildModelEntry(found, model, taken))
    setBusy(false)
  }
  return (
    <li className="flex flex-wrap items-center gap-x-2 py-1.5">
      <Icon name={found.kind === 'key' ? 'key' : 'terminal'} size={14} className="text-ink-faint" />
      <span className="font-medium">{found.name}</span>
      <span className="wrap-any font-mono text-sm text-ink-faint">{found.where}</span>
      {found.why && <span className="wrap-any w-full pl-6 text-ink-soft">{found.why}</span>}
      {addable && (
        <span className="ml-auto flex items-center gap-1.5">
          {offered.length > 0 && (
            <select
              aria-label={t('settings.model_of', { name: found.name })}
              value={model}
              onChange={(event) => setModel(event.target.value)}
              className="h-7 max-w-48 rounded-md border border-line-strong bg-paper px-1"
            >
              {offered.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
          <Button look="solid" disabled={busy} onClick={() => void add()}>
            {t('settings.connect')}
          </Button>
        </span>
      )}
      {!addable && found.settings && (
        <pre className="w-full rounded-md bg-sunken px-2 py-1 font-mono text-xs whitespace-pre-wrap">
          {found.settings}
        </pre>
      )}
    </li>
  )
}
