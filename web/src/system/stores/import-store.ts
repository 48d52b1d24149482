/** The past sessions of other products in the folder, and those of them that are being imported. */
import type { ApiClient } from '../api/client'
import { pastKey } from '../format/names'
import type { PastSessionFound, PastSessionImported, PastSessionList } from '../generated/contracts'
import { Signal } from '../signal'
import { type Refusal, toRefusal } from './notice-store'

/** How often what runs is asked about, in milliseconds. */
const EVERY_MS = 1000

/** What became of an import that was asked for here. */
export type PastImport =
  | { readonly state: 'waiting' | 'running' }
  | { readonly state: 'done'; readonly answer: PastSessionImported }
  | { readonly state: 'failed'; readonly refused: Refusal }

export interface ImportView {
  /** Null until it was read. */
  readonly list: PastSessionList | null
  /** Why it could not be read. */
  readonly failed: Refusal | null
  readonly imports: Readonly<Record<string, PastImport>>
}

const AT_FIRST: ImportView = { list: null, failed: null, imports: {} }

export class ImportStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  #shown = AT_FIRST
  #workspaceId = ''
  #line: readonly PastSessionFound[] = []
  #working = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(api: ApiClient) {
    this.#api = api
  }

  get shown(): ImportView {
    return this.#shown
  }

  /** Read what there is in the workspace's folder. What was read of another is not shown as this one's. */
  async open(workspaceId: string): Promise<void> {
    if (workspaceId !== this.#workspaceId) {
      this.#workspaceId = workspaceId
      this.#line = []
      this.#set(AT_FIRST)
    }
    if (workspaceId !== '') await this.#read()
  }

  /** Import these, one after the other, those last that were asked for last. */
  async take(sessions: readonly PastSessionFound[]): Promise<void> {
    const { imports } = this.#shown
    const fresh = sessions.filter((session) => !isOpen(imports[pastKey(session)]))
    this.#line = [...this.#line, ...fresh]
    this.#told(Object.fromEntries(fresh.map((session) => [pastKey(session), { state: 'waiting' }])))
    if (this.#working) return
    this.#working = true
    for (let next = this.#next(); next !== undefined; next = this.#next()) await this.#import(next)
    this.#working = false
  }

  /** What waits is not imported; what runs goes on to its end. */
  stop(): void {
    this.#line = []
    const { imports } = this.#shown
    const left = Object.entries(imports).filter(([, progress]) => progress.state !== 'waiting')
    this.#set({ imports: Object.fromEntries(left) })
  }

  #next(): PastSessionFound | undefined {
    const [next, ...rest] = this.#line
    this.#line = rest
    return next
  }

  async #import(session: PastSessionFound): Promise<void> {
    const workspaceId = this.#workspaceId
    const { source, sourceId } = session
    const told = (became: PastImport) => {
      if (workspaceId === this.#workspaceId) this.#told({ [pastKey(session)]: became })
    }
    told({ state: 'running' })
    this.#watch()
    try {
      const answer = await this.#api.command('import_past_session', { workspaceId, source, sourceId })
      await this.#read()
      told({ state: 'done', answer })
    } catch (error) {
      told({ state: 'failed', refused: toRefusal(error) })
    }
  }

  async #read(): Promise<void> {
    const workspaceId = this.#workspaceId
    let found: Partial<ImportView>
    try {
      found = { list: await this.#api.query('list_past_sessions', { workspaceId }), failed: null }
    } catch (error) {
      found = { failed: toRefusal(error) }
    }
    if (workspaceId !== this.#workspaceId) return
    this.#set(found)
    // Whoever cannot be reached is not asked again and again.
    if (found.failed === null) this.#watch()
  }

  /** Ask again while something is being imported, here or on another page. */
  #watch(): void {
    const { list, imports } = this.#shown
    const runs =
      Object.values(imports).some((progress) => progress.state === 'running') ||
      (list?.sessions ?? []).some((session) => typeof session.importing === 'number')
    if (!runs || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#read()
    }, EVERY_MS)
  }

  #told(imports: Readonly<Record<string, PastImport>>): void {
    this.#set({ imports: { ...this.#shown.imports, ...imports } })
  }

  #set(change: Partial<ImportView>): void {
    this.#shown = { ...this.#shown, ...change }
    this.changes.emit()
  }
}

function isOpen(progress: PastImport | undefined): boolean {
  return progress?.state === 'waiting' || progress?.state === 'running'
}
