/** The settings as they stand in their files, and what was asked about models, rules and servers. Nothing typed is kept here. */
import type { ApiClient } from '../api/client'
import { entryOf } from '../format/names'
import type {
  FoundModel,
  ModelList,
  ModelTested,
  RuleEntry,
  RulesTried,
  ServerState,
  SettingsRead,
  StandingRule,
} from '../generated/contracts'
import { Signal } from '../signal'
import { type Refusal, toRefusal } from './notice-store'

export type Place = SettingsRead['place']

/** What is shown of the settings. What was not read yet is null. */
export interface SettingsView {
  readonly place: Place
  readonly read: SettingsRead | null
  readonly models: ModelList | null
  readonly rules: readonly StandingRule[] | null
  readonly servers: readonly ServerState[] | null
  readonly tried: RulesTried | null
  /** Why the system's keyring keeps nothing; empty where it does. */
  readonly noKeyring: string
  /** Why something of it could not be read. */
  readonly failed: Refusal | null
  readonly tested: Readonly<Record<string, ModelTested | 'testing'>>
}

const AT_FIRST: SettingsView = {
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
  #shown: SettingsView = AT_FIRST
  #workspaceId = ''

  constructor(api: ApiClient) {
    this.#api = api
  }

  get shown(): SettingsView {
    return this.#shown
  }

  /** Read everything of a place. What was read of another is not shown as this one's. */
  async open(place: Place, workspaceId: string): Promise<void> {
    const same = place === this.#shown.place && workspaceId === this.#workspaceId
    this.#workspaceId = workspaceId
    this.#set(same ? { failed: null } : { ...AT_FIRST, place, models: this.#shown.models })
    await Promise.all([
      this.#readFile(),
      this.readModels(),
      this.#readRules(),
      this.#readServers(),
      this.#readKeyring(),
    ])
  }

  /** Write keys into the file that was read. Gives why it was not taken; what was typed is with whoever asked. */
  async write(changes: Readonly<Record<string, unknown>>): Promise<Refusal | null> {
    const { read, place } = this.#shown
    const body = { place, changes, digest: read?.digest ?? '', ...this.#where() }
    const refused = await this.#asked(() => this.#api.confirmed('update_settings', body))
    if (refused === null) await this.open(place, this.#workspaceId)
    return refused
  }

  /** Put what was found among the models of the user's settings, with that model where it offers several. */
  async connect(found: FoundModel, model: string): Promise<Refusal | null> {
    await this.open('user', this.#workspaceId)
    const { read, failed } = this.#shown
    if (read === null) return failed
    const models = Array.isArray(read.values.models)
      ? (read.values.models as readonly { name?: string }[])
      : []
    const taken = models.map((model) => model.name ?? '')
    return this.write({ models: [...models, entryOf(found, model, taken)] })
  }

  /** Keep a key in the system's keyring; gives its handle, or why it is not kept. The value is let go of at once. */
  async keep(name: string, value: string): Promise<{ readonly handle: string } | Refusal> {
    try {
      return { handle: (await this.#api.confirmed('set_secret', { name, value })).handle }
    } catch (error) {
      return toRefusal(error)
    }
  }

  async test(name: string): Promise<void> {
    if (this.#shown.tested[name] === 'testing') return
    const told = (tested: ModelTested | 'testing') =>
      this.#set({ tested: { ...this.#shown.tested, [name]: tested } })
    told('testing')
    try {
      told(await this.#api.query('test_model', { name }))
    } catch (error) {
      const { code, message, hint } = toRefusal(error)
      told({ name, ok: false, problem: { code: code as 'internal', message, hint } })
    }
  }

  async addRule(rule: RuleEntry): Promise<Refusal | null> {
    const body = { ...rule, workspaceId: this.#workspaceId }
    const refused = await this.#asked(() => this.#api.confirmed('add_rule', body))
    await this.#readRules()
    return refused
  }

  async revokeRule(ruleId: string): Promise<Refusal | null> {
    const body = { ruleId, workspaceId: this.#workspaceId }
    const refused = await this.#asked(() => this.#api.confirmed('revoke_rule', body))
    await this.#readRules()
    return refused
  }

  /** What these rules would have decided of past calls. Changes nothing. */
  async tryRules(rules: readonly RuleEntry[]): Promise<Refusal | null> {
    const asked = { workspaceId: this.#workspaceId, rules }
    return this.#asked(async () => this.#set({ tried: await this.#api.command('dry_run_rules', asked) }))
  }

  async reconnect(server: string): Promise<Refusal | null> {
    const body = { workspaceId: this.#workspaceId, server }
    const refused = await this.#asked(() => this.#api.command('reconnect_server', body))
    await this.#readServers()
    return refused
  }

  async #asked(work: () => Promise<unknown>): Promise<Refusal | null> {
    try {
      await work()
      return null
    } catch (error) {
      return toRefusal(error)
    }
  }

  #where(): { readonly workspaceId?: string } {
    return this.#workspaceId === '' ? {} : { workspaceId: this.#workspaceId }
  }

  #readFile(): Promise<void> {
    const { place } = this.#shown
    return this.#reading(async () => ({
      read: await this.#api.query('get_settings', { place, ...this.#where() }),
    }))
  }

  /** Read which models there are and which are found beside them. */
  readModels(): Promise<void> {
    return this.#reading(async () => ({ models: await this.#api.query('list_models', {}) }))
  }

  async #readRules(): Promise<void> {
    const workspaceId = this.#workspaceId
    if (workspaceId === '') return
    await this.#reading(async () => ({ rules: (await this.#api.query('list_rules', { workspaceId })).rules }))
  }

  async #readServers(): Promise<void> {
    const workspaceId = this.#workspaceId
    if (workspaceId === '') return
    await this.#reading(async () => ({
      servers: (await this.#api.query('list_servers', { workspaceId })).servers,
    }))
  }

  #readKeyring(): Promise<void> {
    return this.#reading(async () => ({
      noKeyring: (await this.#api.query('list_secrets', {})).problem ?? '',
    }))
  }

  async #reading(read: () => Promise<Partial<SettingsView>>): Promise<void> {
    const { place } = this.#shown
    const workspaceId = this.#workspaceId
    let found: Partial<SettingsView>
    try {
      found = await read()
    } catch (error) {
      found = { failed: toRefusal(error) }
    }
    if (place === this.#shown.place && workspaceId === this.#workspaceId) this.#set(found)
  }

  #set(change: Partial<SettingsView>): void {
    this.#shown = { ...this.#shown, ...change }
    this.changes.emit()
  }
}
