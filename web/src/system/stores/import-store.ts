/** Past sessions of other products in the folder, and their imports. */
import type { ApiClient } from '../api/client'
import { buildPastSessionKey } from '../format/names'
import type { PastSessionEntry, PastSessionImported, PastSessionList } from '../generated/contracts'
import { Signal } from '../signal'
import { buildRefusal, type Refusal } from './notice-store'

/** Poll interval while an import is running, in milliseconds. */
const POLL_MS = 1000

/** The progress of an import that this page started. */
export type ImportProgress =
  | { readonly state: 'waiting' | 'running' }
  | { readonly state: 'done'; readonly answer: PastSessionImported }
  | { readonly state: 'failed'; readonly refusal: Refusal }

export interface ImportView {
  /** Null until it is read. */
  readonly list: PastSessionList | null
  /** Why the list could not be read. */
  readonly failed: Refusal | null
  readonly imports: Readonly<Record<string, ImportProgress>>
}

const INITIAL: ImportView = { list: null, failed: null, imports: {} }

export class ImportStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  #view = INITIAL
  #workspaceId = ''
  #queue: readonly PastSessionEntry[] = []
  #working = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(api: ApiClient) {
    this.#api = api
  }

  get view(): ImportView {
    return this.#view
  }

  /** Read the past sessions in a workspace's folder. Drops the list of another workspace. */
  async open(workspaceId: string): Promise<void> {
    if (workspaceId !== this.#workspaceId) {
      this.#workspaceId = workspaceId
      this.#queue = []
      this.#set(INITIAL)
    }
    if (workspaceId !== '') await this.#read()
  }

  /** Add sessions to the import queue. They are imported one after the other. */
  async enqueue(sessions: readonly PastSessionEntry[]): Promise<void> {
    const { imports } = this.#view
    const added = sessions.filter((session) => !isPending(imports[buildPastSessionKey(session)]))
    this.#queue = [...this.#queue, ...added]
    this.#setProgress(
      Object.fromEntries(added.map((session) => [buildPastSessionKey(session), { state: 'waiting' }])),
    )
    if (this.#working) return
    this.#working = true
    for (let next = this.#findNext(); next !== undefined; next = this.#findNext()) await this.#import(next)
    this.#working = false
  }

  /** Clear the import queue. A running import continues. */
  stop(): void {
    this.#queue = []
    const { imports } = this.#view
    const remaining = Object.entries(imports).filter(([, progress]) => progress.state !== 'waiting')
    this.#set({ imports: Object.fromEntries(remaining) })
  }

  #findNext(): PastSessionEntry | undefined {
    const [next, ...rest] = this.#queue
    this.#queue = rest
    return next
  }

  async #import(session: PastSessionEntry): Promise<void> {
    const workspaceId = this.#workspaceId
    const { source, sourceId } = session
    const setProgress = (progress: ImportProgress) => {
      if (workspaceId === this.#workspaceId) this.#setProgress({ [buildPastSessionKey(session)]: progress })
    }
    setProgress({ state: 'running' })
    this.#watch()
    try {
      const answer = await this.#api.send('import_past_session', { workspaceId, source, sourceId })
      await this.#read()
      setProgress({ state: 'done', answer })
    } catch (error) {
      setProgress({ state: 'failed', refusal: buildRefusal(error) })
    }
  }

  async #read(): Promise<void> {
    const workspaceId = this.#workspaceId
    let change: Partial<ImportView>
    try {
      change = { list: await this.#api.query('list_past_sessions', { workspaceId }), failed: null }
    } catch (error) {
      change = { failed: buildRefusal(error) }
    }
    if (workspaceId !== this.#workspaceId) return
    this.#set(change)
    // Do not poll an unreachable server.
    if (change.failed === null) this.#watch()
  }

  /** Poll while an import is running, here or on another page. */
  #watch(): void {
    const { list, imports } = this.#view
    const isRunning =
      Object.values(imports).some((progress) => progress.state === 'running') ||
      (list?.sessions ?? []).some((session) => typeof session.importing === 'number')
    if (!isRunning || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#read()
    }, POLL_MS)
  }

  #setProgress(imports: Readonly<Record<string, ImportProgress>>): void {
    this.#set({ imports: { ...this.#view.imports, ...imports } })
  }

  #set(change: Partial<ImportView>): void {
    this.#view = { ...this.#view, ...change }
    this.changes.emit()
  }
}

function isPending(progress: ImportProgress | undefined): boolean {
  return progress?.state === 'waiting' || progress?.state === 'running'
}
