import type { RuleEntry } from '@/system/generated/contracts'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsPlace } from '@/system/stores/settings-store'

/** What a person can do with the settings. Each gives why it was not taken, or null. */
export interface SettingsHandlers {
  readonly onPlace: (place: SettingsPlace) => void
  readonly onReload: () => void
  readonly onWrite: (changes: Readonly<Record<string, unknown>>) => Promise<Refusal | null>
  /** Keep a key; gives its handle. */
  readonly onKeep: (name: string, value: string) => Promise<{ readonly handle: string } | Refusal>
  readonly onTest: (name: string) => void
  readonly onAddRule: (rule: RuleEntry) => Promise<Refusal | null>
  readonly onRevokeRule: (ruleId: string) => Promise<Refusal | null>
  readonly onTryRules: (rules: readonly RuleEntry[]) => Promise<Refusal | null>
  readonly onReconnect: (server: string) => Promise<Refusal | null>
  readonly onTrust: () => Promise<unknown>
  readonly onRevokeTrust: () => Promise<unknown>
}
