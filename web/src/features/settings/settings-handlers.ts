import type { RuleEntry } from '@/system/generated/contracts'
import type { Refused } from '@/system/stores/notice-store'
import type { Place } from '@/system/stores/settings-store'

/** What a person can do with the settings. Each gives why it was not taken, or null. */
export interface SettingsHandlers {
  readonly onPlace: (place: Place) => void
  readonly onReload: () => void
  readonly onWrite: (changes: Readonly<Record<string, unknown>>) => Promise<Refused | null>
  /** Keep a key; gives its handle. */
  readonly onKeep: (name: string, value: string) => Promise<{ readonly handle: string } | Refused>
  readonly onTest: (name: string) => void
  readonly onAddRule: (rule: RuleEntry) => Promise<Refused | null>
  readonly onRevokeRule: (ruleId: string) => Promise<Refused | null>
  readonly onTryRules: (rules: readonly RuleEntry[]) => Promise<Refused | null>
  readonly onReconnect: (server: string) => Promise<Refused | null>
  readonly onTrust: () => Promise<unknown>
  readonly onRevokeTrust: () => Promise<unknown>
}
