import { useState } from 'react'
import type { ModelOffer } from '@/system/api/client'
import type { DetectedSource, ModelList } from '@/system/generated/contracts'
import type { SettingsView } from '@/system/stores/settings-store'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Dot } from '@/ui/marks'
import { useT } from '../shared/surface'

/** Providers that search or play a script. They are not models to connect. */
const STAND_INS: ReadonlySet<string> = new Set(['offline', 'scripted'])

export interface ModelSetupProps {
  /** Models that the server can use. */
  readonly models: readonly ModelOffer[]
  /** Configured and detected models; null until they are read. */
  readonly list: ModelList | null
  /** Results of model tests, by provider and name. */
  readonly tested: SettingsView['tested']
  readonly onConnect: (detected: DetectedSource, model: string) => Promise<unknown>
  readonly onSettings: () => void
}

/** The connected model, or the way to connect one. A detected model takes one click. */
export function ModelSetup(props: ModelSetupProps) {
  const t = useT()
  const { list } = props
  const connected = props.models.filter((model) => !STAND_INS.has(model.provider))
  const broken = (list?.configured ?? []).filter((model) => !model.usable && !STAND_INS.has(model.provider))
  const detectedModels = (list?.found ?? []).filter((model) => model.configured !== true)
  const isFirst =
    connected.length === 0 && !detectedModels.some((model) => Object.keys(model.entry ?? {}).length > 0)
  return (
    <div className="space-y-1">
      {connected.length === 0 && <p className="text-ink-soft">{t('first.models_offline')}</p>}
      <ul>
        {connected.map(({ provider, name, label }) => {
          const entryName = label || name
          const tested = props.tested[`${provider}/${name}`]
          const failed = tested !== undefined && tested !== 'testing' && !tested.ok
          return (
            <li key={`${provider} ${name}`} className="flex min-h-6 items-center gap-2">
              <Dot tone={failed ? 'bad' : 'good'} />
              <span className="wrap-any">{entryName}</span>
              {!entryName.includes(provider) && <span className="text-sm text-ink-faint">{provider}</span>}
              {failed && <span className="text-sm text-bad">{t('settings.test_failed')}</span>}
            </li>
          )
        })}
        {broken.map((model) => (
          <li key={model.name} className="flex items-start gap-2">
            <span className="pt-1.5">
              <Dot tone="warn" />
            </span>
            <span className="wrap-any min-w-0">
              {model.label || model.name} <span className="text-sm text-ink-soft">{model.why}</span>
            </span>
          </li>
        ))}
      </ul>
      {detectedModels.length > 0 && (
        <ul aria-label={t('settings.available')} className="space-y-1">
          {detectedModels.map((model) => (
            <DetectedModel
              key={`${model.kind} ${model.where}`}
              detected={model}
              first={connected.length === 0}
              onConnect={props.onConnect}
            />
          ))}
        </ul>
      )}
      <Button
        look={isFirst ? 'solid' : 'quiet'}
        icon="plus"
        onClick={props.onSettings}
        className={isFirst ? '' : '-ml-2.5'}
      >
        {t(isFirst ? 'settings.add_model' : 'first.other_model')}
      </Button>
    </div>
  )
}

function DetectedModel(props: {
  readonly detected: DetectedSource
  /** Whether no model is connected yet. */
  readonly first: boolean
  readonly onConnect: ModelSetupProps['onConnect']
}) {
  const t = useT()
  const { detected } = props
  const [busy, setBusy] = useState(false)
  const { entry = {} } = detected
  const model = detected.models?.[0] ?? entry.model ?? ''
  const connect = async () => {
    setBusy(true)
    await props.onConnect(detected, model)
    setBusy(false)
  }
  return (
    <li className="flex items-center gap-2" title={detected.where}>
      <Icon name={detected.kind === 'key' ? 'key' : 'terminal'} size={14} className="text-ink-faint" />
      <span className="min-w-0 flex-1">
        <span className="wrap-any">{t(`first.available.${detected.kind}`, { name: detected.name })}</span>
        {model !== '' && <span className="block truncate text-sm text-ink-faint">{model}</span>}
      </span>
      {Object.keys(entry).length > 0 && (
        <Button
          look={props.first ? 'solid' : 'outline'}
          disabled={busy}
          onClick={() => void connect()}
          aria-label={t('first.connect_of', { name: detected.name, model })}
        >
          {t('settings.connect')}
        </Button>
      )}
    </li>
  )
}
