/** Settings files, models, rules and tool servers, as last read. Typed text is not stored here. */
import type { ApiClient } from '../api/client'
import { buildModelEntry } from '../format/names'
import type {
  DetectedSource,
  DryRunResult,
  ListedRule,
  ModelList,
  ModelTestResult,
  RuleEntry,
  ServerState,
  SettingsRead,
} from '../generated/contracts'
import { Signal } from '../signal'
import { buildRefusal, type Refusal } from './notice-store'

export type SettingsPlace = SettingsRead['place']

/** The settings that the page shows. A null field was not read yet. */
export interface SettingsView {
  readonly place: SettingsPlace
  readonly read: SettingsRead | null
  readonly models: ModelList | null
  readonly rules: readonly ListedRule[] | null
  readonly servers: readonly ServerState[] | null
  readonly tried: DryRunResult | null
  /** Why the keyring is unavailable; empty if it is available. */
  readonly noKeyring: string
  /** Why a read failed. */
  readonly failed: Refusal | null
  readonly tested: Readonly<Record<string, ModelTestResult | 'testing'>>
}

const INITIAL: SettingsView = {
  place: 'user',
  read: null,
  models: null,
  rules: null,
  servers: null,
  tried: null,
  noKeyring: '',
  failed: null,
  tested: {},
}

export class SettingsStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  #view: SettingsView = INITIAL
  #workspaceId = ''

  constructor(api: ApiClient) {
    this.#api = api
  }

  get view(): SettingsView {
    return this.#view
  }

  /** Read all settings of a file, and drop those of the other file. */
  async open(place: SettingsPlace, workspaceId: string): Promise<void> {
    const same = place === this.#view.place && workspaceId === this.#workspaceId
    this.#workspaceId = workspaceId
    this.#set(same ? { failed: null } : { ...INITIAL, place, models: this.#view.models })
    await Promise.all([
      this.#readFile(),
      this.readModels(),
      this.#readRules(),
      this.#readServers(),
      this.#readKeyring(),
    ])
  }

  /**
   * Write keys to the settings file. Returns the refusal, or null. The caller keeps the typed text.
   */
  async write(changes: Readonly<Record<string, unknown>>): Promise<Refusal | null> {
    const { read, place } = this.#view
    const body = { place, changes, digest: read?.digest ?? '', ...this.#getScope() }
    const refusal = await this.#attempt(() => this.#api.sendConfirmed('update_settings', body))
    if (refusal === null) await this.open(place, this.#workspaceId)
    return refusal
  }

  /** Add a detected provider to the user's models. `model` selects one if it offers several. */
  async connect(detected: DetectedSource, model: string): Promise<Refusal | null> {
    await this.open('user', this.#workspaceId)
    const { read, failed } = this.#view
    if (read === null) return failed
    const models = Array.isArray(read.values.models)
      ? (read.values.models as readonly { name?: string }[])
      : []
    const usedNames = models.map((model) => model.name ?? '')
    return this.write({ models: [...models, buildModelEntry(detected, model, usedNames)] })
  }

  /** Store a key in the keyring. Returns its handle or the refusal. The value is not kept here. */
  async storeSecret(name: string, value: string): Promise<{ readonly handle: string } | Refusal> {
    try {
      return { handle: (await this.#api.sendConfirmed('set_secret', { name, value })).handle }
    } catch (error) {
      return buildRefusal(error)
    }
  }

  async testModel(name: string): Promise<void> {
    if (this.#view.tested[name] === 'testing') return
    const setTested = (tested: ModelTestResult | 'testing') =>
      this.#set({ tested: { ...this.#view.tested, [name]: tested } })
    setTested('testing')
    try {
      setTested(await this.#api.query('test_model', { name }))
    } catch (error) {
      const { code, message, hint } = buildRefusal(error)
      setTested({ name, ok: false, problem: { code: code as 'internal', message, hint } })
    }
  }

  async addRule(rule: RuleEntry): Promise<Refusal | null> {
    const body = { ...rule, workspaceId: this.#workspaceId }
    const refusal = await this.#attempt(() => this.#api.sendConfirmed('add_rule', body))
    await this.#readRules()
    return refusal
  }

  async revokeRule(ruleId: string): Promise<Refusal | null> {
    const body = { ruleId, workspaceId: this.#workspaceId }
    const refusal = await this.#attempt(() => this.#api.sendConfirmed('revoke_rule', body))
    await this.#readRules()
    return refusal
  }

  /** Apply rules to past calls and show the verdicts. Changes nothing. */
  async tryRules(rules: readonly RuleEntry[]): Promise<Refusal | null> {
    const body = { workspaceId: this.#workspaceId, rules }
    return this.#attempt(async () => this.#set({ tried: await this.#api.send('dry_run_rules', body) }))
  }

  async reconnect(server: string): Promise<Refusal | null> {
    const body = { workspaceId: this.#workspaceId, server }
    const refusal = await this.#attempt(() => this.#api.send('reconnect_server', body))
    await this.#readServers()
    return refusal
  }

  async #attempt(work: () => Promise<unknown>): Promise<Refusal | null> {
    try {
      await work()
      return null
    } catch (error) {
      return buildRefusal(error)
    }
  }

  #getScope(): { readonly workspaceId?: string } {
    return this.#workspaceId === '' ? {} : { workspaceId: this.#workspaceId }
  }

  #readFile(): Promise<void> {
    const { place } = this.#view
    return this.#update(async () => ({
      read: await this.#api.query('get_settings', { place, ...this.#getScope() }),
    }))
  }

  /** Read the configured and the detected models. */
  readModels(): Promise<void> {
    return this.#update(async () => ({ models: await this.#api.query('list_models', {}) }))
  }

  async #readRules(): Promise<void> {
    const workspaceId = this.#workspaceId
    if (workspaceId === '') return
    await this.#update(async () => ({ rules: (await this.#api.query('list_rules', { workspaceId })).rules }))
  }

  async #readServers(): Promise<void> {
    const workspaceId = this.#workspaceId
    if (workspaceId === '') return
    await this.#update(async () => ({
      servers: (await this.#api.query('list_servers', { workspaceId })).servers,
    }))
  }

  #readKeyring(): Promise<void> {
    return this.#update(async () => ({
      noKeyring: (await this.#api.query('list_secrets', {})).problem ?? '',
    }))
  }

  async #update(read: () => Promise<Partial<SettingsView>>): Promise<void> {
    const { place } = this.#view
    const workspaceId = this.#workspaceId
    let change: Partial<SettingsView>
    try {
      change = await read()
    } catch (error) {
      change = { failed: buildRefusal(error) }
    }
    if (place === this.#view.place && workspaceId === this.#workspaceId) this.#set(change)
  }

  #set(change: Partial<SettingsView>): void {
    this.#view = { ...this.#view, ...change }
    this.changes.emit()
  }
}
