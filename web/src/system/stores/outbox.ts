/**
 * What a person sent and the facts do not show yet. An entry ends when a row with its id arrives; it is never shown
 * as more than sent.
 */
import type { Mode, PermissionMode } from '../generated/contracts'
import type { RowStore } from '../rows/row-store'
import { Signal } from '../signal'
import type { Attached } from './attachment-store'

/** What shall become of the input. Only `start` is possible where nothing runs. */
export type How = 'start' | 'queue' | 'steer' | 'interrupt'

export interface Sent {
  /** The turn's id, or the steer's. */
  readonly id: string
  /** Empty until a new session has its id. */
  readonly sessionId: string
  readonly text: string
  readonly how: How
  readonly mode: Mode
  /** What was shown; `chosen` says that it was sent too. */
  readonly permissionMode: PermissionMode
  readonly chosen: boolean
  /** What went with it. */
  readonly attached: readonly Attached[]
  /** `unconfirmed`: no answer came, so whether it was taken is unknown. */
  readonly state: 'sending' | 'accepted' | 'unconfirmed'
  readonly key: string
}

export class Outbox {
  readonly changes = new Signal()
  #entries: readonly Sent[] = []

  of(sessionId: string): readonly Sent[] {
    return this.#entries.filter((entry) => entry.sessionId === sessionId)
  }

  add(entry: Sent): void {
    this.#set([...this.#entries, entry])
  }

  change(id: string, change: Partial<Sent>): void {
    this.#set(this.#entries.map((entry) => (entry.id === id ? { ...entry, ...change } : entry)))
  }

  drop(id: string): void {
    this.#set(this.#entries.filter((entry) => entry.id !== id))
  }

  /** Let go of what the facts show by now. */
  reconcile(sessionId: string, rows: RowStore): void {
    const left = this.#entries.filter((entry) => entry.sessionId !== sessionId || !isShown(entry, rows))
    if (left.length !== this.#entries.length) this.#set(left)
  }

  #set(entries: readonly Sent[]): void {
    this.#entries = entries
    this.changes.emit()
  }
}

function isShown(entry: Sent, rows: RowStore): boolean {
  if (entry.how === 'steer') {
    return rows
      .panel('parts')
      .all()
      .some((part) => part.kind === 'user_text' && part.steerId === entry.id)
  }
  return rows.panel('turns').get(entry.id) !== undefined || rows.panel('queue').get(entry.id) !== undefined
}
