/** Building blocks of the settings sections. */
import type { InputHTMLAttributes, ReactNode } from 'react'
import type { ConfiguredModel, ModelList, RuleEntry } from '@/system/generated/contracts'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsPlace } from '@/system/stores/settings-store'
import { Button } from '@/ui/button'
import { RefusalAlert } from '../shared/refusal'
import { useT } from '../shared/surface'

/** The configured models, without the search that answers while there is none. */
export function listConnectedModels(models: ModelList | null): readonly ConfiguredModel[] {
  return (models?.configured ?? []).filter((model) => model.kind !== 'offline')
}

export function Section(props: {
  readonly title: string
  readonly hint?: string
  readonly children: ReactNode
}) {
  return (
    <section
      aria-label={props.title}
      className="space-y-2 border-t border-line pt-3 first:border-t-0 first:pt-0"
    >
      <div>
        <h3 className="font-semibold">{props.title}</h3>
        {props.hint && <p className="text-ink-soft">{props.hint}</p>}
      </div>
      {props.children}
    </section>
  )
}

/** A refusal. If the file changed on disk, it offers to reload it. */
export function SettingsRefusal({ refusal, onReload }: { refusal: Refusal | null; onReload: () => void }) {
  const t = useT()
  if (refusal?.code !== 'conflict') return <RefusalAlert refusal={refusal} />
  return (
    <div role="alert" className="rounded-lg border border-bad/40 bg-bad-soft px-3 py-1.5">
      <p className="font-medium text-bad">{t('settings.conflict')}</p>
      <Button look="outline" className="mt-1" onClick={onReload}>
        {t('settings.reload')}
      </Button>
    </div>
  )
}

export function TextField(
  props: Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & {
    readonly label: string
    readonly onText?: (text: string) => void
  },
) {
  const { label, onText, className, ...rest } = props
  return (
    <label className={`block min-w-0 ${className ?? ''}`}>
      <span className="block text-sm text-ink-soft">{label}</span>
      <input
        {...rest}
        onChange={onText && ((event) => onText(event.target.value))}
        className="h-7 w-full rounded-md border border-line-strong bg-paper px-2"
      />
    </label>
  )
}

/** An entry of a list in the settings file. */
export type Entry = Readonly<Record<string, unknown>>

export function readEntries(values: Entry | undefined, key: string): readonly Entry[] {
  const list = values?.[key]
  return Array.isArray(list)
    ? list.filter((value): value is Entry => typeof value === 'object' && value !== null)
    : []
}

export function readText(entry: Entry, key: string): string {
  const value = entry[key]
  return typeof value === 'string' ? value : ''
}

/** Actions on the settings. Each returns its refusal, or null. */
export interface SettingsHandlers {
  readonly onPlace: (place: SettingsPlace) => void
  readonly onReload: () => void
  readonly onWrite: (changes: Readonly<Record<string, unknown>>) => Promise<Refusal | null>
  /** Store a key and return its handle. */
  readonly onStoreSecret: (name: string, value: string) => Promise<{ readonly handle: string } | Refusal>
  readonly onTest: (name: string) => void
  readonly onAddRule: (rule: RuleEntry) => Promise<Refusal | null>
  readonly onRevokeRule: (ruleId: string) => Promise<Refusal | null>
  readonly onTryRules: (rules: readonly RuleEntry[]) => Promise<Refusal | null>
  readonly onReconnect: (server: string) => Promise<Refusal | null>
  readonly onTrust: () => Promise<unknown>
  readonly onRevokeTrust: () => Promise<unknown>
}
