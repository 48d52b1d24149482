import { useState } from 'react'
import { buildModelEntry } from '@/system/format/names'
import { formatDuration } from '@/system/format/numbers'
import type { ConfiguredModel, DetectedSource, ModelTestResult } from '@/system/generated/contracts'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsView } from '@/system/stores/settings-store'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Badge, Dot } from '@/ui/marks'
import { useT } from '../shared/surface'
import { AddModel } from './add-model'
import { FallbackModels } from './fallback-models'
import type { SettingsHandlers } from './settings-section'
import {
  type Entry,
  listConnectedModels,
  readEntries,
  readText,
  Section,
  SettingsRefusal,
} from './settings-section'

/** Configured models, detected models and fallback models. */
export function ModelsSection({ view, handlers }: { view: SettingsView; handlers: SettingsHandlers }) {
  const t = useT()
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const [adding, setAdding] = useState(false)
  const { models, read } = view
  const entries = readEntries(read?.values, 'models')
  const write = async (changes: Entry) => {
    const refusal = await handlers.onWrite(changes)
    setRefusal(refusal)
    return refusal
  }
  const addEntry = (entry: Entry) => ({ models: [...entries, entry] })
  const remove = (name: string) =>
    void write({ models: entries.filter((entry) => readText(entry, 'name') !== name) })
  const connected = listConnectedModels(models)
  const detectedModels = (models?.found ?? []).filter((model) => model.configured !== true)
  return (
    <>
      <Section title={t('settings.models')} hint={t('settings.models_help')}>
        {models === null && <p className="text-ink-faint">{t('tool.loading')}</p>}
        {models !== null && connected.length === 0 && <p>{t('first.models_offline')}</p>}
        <ul aria-label={t('settings.models')} className="divide-y divide-line">
          {connected.map((model) => {
            const entry = entries.find((entry) => readText(entry, 'name') === model.provider)
            return (
              <Model
                key={model.name}
                model={model}
                tested={view.tested[model.name] ?? null}
                onTest={() => handlers.onTest(model.name)}
                onRemove={entry === undefined ? null : () => remove(model.provider)}
              />
            )
          })}
        </ul>
        <SettingsRefusal refusal={refusal} onReload={handlers.onReload} />
        {adding ? (
          <AddModel
            usedNames={entries.map((entry) => readText(entry, 'name'))}
            noKeyring={view.noKeyring}
            onKeep={handlers.onStoreSecret}
            onAdd={(entry) => handlers.onWrite(addEntry(entry))}
            onDone={() => setAdding(false)}
          />
        ) : (
          <Button look="outline" icon="plus" onClick={() => setAdding(true)}>
            {t('settings.add_model')}
          </Button>
        )}
      </Section>
      {detectedModels.length > 0 && (
        <Section title={t('settings.available')} hint={t('settings.available_help')}>
          <ul aria-label={t('settings.available')} className="divide-y divide-line">
            {detectedModels.map((model) => (
              <DetectedModel
                key={`${model.kind} ${model.where}`}
                detected={model}
                usedNames={entries.map((entry) => readText(entry, 'name'))}
                onAdd={(entry) => write(addEntry(entry))}
              />
            ))}
          </ul>
        </Section>
      )}
      <FallbackModels view={view} onWrite={write} />
    </>
  )
}

function Model(props: {
  readonly model: ConfiguredModel
  readonly tested: ModelTestResult | 'testing' | null
  readonly onTest: () => void
  readonly onRemove: (() => void) | null
}) {
  const t = useT()
  const { model, tested } = props
  const testing = tested === 'testing'
  const failed = tested !== null && tested !== 'testing' && !tested.ok
  return (
    <li className="py-1.5">
      <div className="flex flex-wrap items-center gap-x-2">
        <Dot tone={failed ? 'bad' : model.usable ? 'good' : 'warn'} />
        <span className="wrap-any font-medium">{model.label || model.name}</span>
        <span className="wrap-any text-sm text-ink-faint">{model.name}</span>
        {model.default === true && <Badge tone="accent">{t('settings.default')}</Badge>}
        {(model.fallback ?? 0) > 0 && (
          <Badge>{t('settings.fallback_position', { position: model.fallback ?? 0 })}</Badge>
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
      {tested !== null && tested !== 'testing' && <TestResult tested={tested} />}
    </li>
  )
}

/** The result of a model test, or its problem and what to do. */
export function TestResult({ tested }: { tested: ModelTestResult }) {
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
      <p>{(problem && t.find(`code.${problem.code}`)) ?? t('settings.test_failed')}</p>
      <p className="text-ink-soft">{problem?.message}</p>
      {problem?.hint && <p className="text-ink-soft">{problem.hint}</p>}
    </div>
  )
}

/** A detected provider. It connects with one click if it needs no further input. */
export function DetectedModel(props: {
  readonly detected: DetectedSource
  readonly usedNames: readonly string[]
  readonly onAdd: (entry: Entry) => Promise<unknown>
}) {
  const t = useT()
  const { detected, usedNames } = props
  const [busy, setBusy] = useState(false)
  const offered = detected.models ?? []
  const [model, setModel] = useState(offered[0] ?? '')
  const addable = Object.keys(detected.entry ?? {}).length > 0
  const add = async () => {
    setBusy(true)
    await props.onAdd(buildModelEntry(detected, model, usedNames))
    setBusy(false)
  }
  return (
    <li className="flex flex-wrap items-center gap-x-2 py-1.5">
      <Icon name={detected.kind === 'key' ? 'key' : 'terminal'} size={14} className="text-ink-faint" />
      <span className="font-medium">{detected.name}</span>
      <span className="wrap-any font-mono text-sm text-ink-faint">{detected.where}</span>
      {detected.why && <span className="wrap-any w-full pl-6 text-ink-soft">{detected.why}</span>}
      {addable && (
        <span className="ml-auto flex items-center gap-1.5">
          {offered.length > 0 && (
            <select
              aria-label={t('settings.model_of', { name: detected.name })}
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
      {!addable && detected.settings && (
        <pre className="w-full rounded-md bg-sunken px-2 py-1 font-mono text-xs whitespace-pre-wrap">
          {detected.settings}
        </pre>
      )}
    </li>
  )
}
