import type { RuleEntry } from '@/system/generated/contracts'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsPlace } from '@/system/stores/settings-store'

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
