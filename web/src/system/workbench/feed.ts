/** What is shown of one stream: its rows, and how current they are. */
import type { ApiClient } from '../api/client'
import type { ApiProblem } from '../api/problem'
import { type OnOffloaded, RowStore } from '../rows/row-store'
import { Signal } from '../signal'
import { type Connection, Subscription } from '../stream/subscription'

export class Feed {
  readonly rows: RowStore
  /** Changes of the connection; changes of rows are told by the rows. */
  readonly changes = new Signal()
  /** Tells of each snapshot, after it was applied. */
  readonly snapshots = new Signal()
  readonly #subscription: Subscription
  #connection: Connection = 'connecting'
  #problem: ApiProblem | null = null
  #staleSince: number | null = null

  constructor(api: ApiClient, path: string, onOffloaded?: OnOffloaded) {
    this.rows = new RowStore(onOffloaded)
    this.#subscription = new Subscription({
      open: (cursor, signal) => api.stream(path, cursor, signal),
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

  /** Since when what is shown is not known to be current, in milliseconds; null while it is. */
  get staleSince(): number | null {
    return this.#staleSince
  }

  /** Whether anything was ever shown. */
  get hydrated(): boolean {
    return this.#subscription.cursor !== null || this.rows.changes.version > 0
  }

  start(): void {
    this.#subscription.start()
  }

  stop(): void {
    this.#subscription.stop()
  }

  /** Begin again where the server ended it; the cursor is kept. */
  restart(): void {
    this.stop()
    this.start()
  }

  nudge(): void {
    this.#subscription.nudge()
  }
}
