/** The rows of one stream and the state of its connection. */
import type { ApiClient } from '../api/client'
import type { ApiProblem } from '../api/problem'
import { type OnOffloaded, RowStore } from '../rows/row-store'
import { Signal } from '../signal'
import { type Connection, Subscription } from '../stream/subscription'

export class Feed {
  readonly rows: RowStore
  /** Emits when the connection changes. `rows.changes` emits when rows change. */
  readonly changes = new Signal()
  /** Emits after each applied snapshot. */
  readonly snapshots = new Signal()
  readonly #subscription: Subscription
  #connection: Connection = 'connecting'
  #problem: ApiProblem | null = null
  #staleSince: number | null = null

  constructor(api: ApiClient, path: string, onOffloaded?: OnOffloaded) {
    this.rows = new RowStore(onOffloaded)
    this.#subscription = new Subscription({
      open: (cursor, signal) => api.openStream(path, cursor, signal),
      replace: (ops) => {
        const applied = this.rows.replace(ops)
        this.snapshots.emit()
        return applied
      },
      apply: (ops) => this.rows.apply(ops),
      onConnection: (connection, problem) => {
        this.#connection = connection
        this.#problem = problem
        this.#staleSince = connection === 'live' ? null : (this.#staleSince ?? Date.now())
        this.changes.emit()
      },
    })
  }

  get connection(): Connection {
    return this.#connection
  }

  get problem(): ApiProblem | null {
    return this.#problem
  }

  /** Time since when rows may be outdated, in milliseconds; null while they are current. */
  get staleSince(): number | null {
    return this.#staleSince
  }

  /** Whether the feed has received rows. */
  get hydrated(): boolean {
    return this.#subscription.cursor !== null || this.rows.changes.version > 0
  }

  start(): void {
    this.#subscription.start()
  }

  stop(): void {
    this.#subscription.stop()
  }

  /** Reconnect after the server ended the stream. Keeps the cursor. */
  restart(): void {
    this.stop()
    this.start()
  }

  reconnect(): void {
    this.#subscription.reconnect()
  }
}
