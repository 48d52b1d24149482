/**
 * Inputs that were sent and are not in the rows yet. An entry ends when a row with its id arrives. The
 * page shows it only as sent.
 */
import type { Mode, PermissionMode } from '../generated/contracts'
import type { RowStore } from '../rows/row-store'
import { Signal } from '../signal'
import type { AttachedFile } from './attachment-store'

/** What to do with an input. If no turn is running, only `start` is possible. */
export type SendMode = 'start' | 'queue' | 'steer' | 'interrupt'

export interface SentInput {
  /** The id of the turn or steer. */
  readonly id: string
  /** Empty until the new session has an id. */
  readonly sessionId: string
  readonly text: string
  readonly sendMode: SendMode
  readonly mode: Mode
  /** The mode that the composer showed. It was sent only if `chosen` is true. */
  readonly permissionMode: PermissionMode
  readonly chosen: boolean
  /** Attached files. */
  readonly attached: readonly AttachedFile[]
  /** `unconfirmed`: no answer came, so the outcome is unknown. */
  readonly state: 'sending' | 'accepted' | 'unconfirmed'
  readonly key: string
}

export class Outbox {
  readonly changes = new Signal()
  #entries: readonly SentInput[] = []

  listEntries(sessionId: string): readonly SentInput[] {
    return this.#entries.filter((entry) => entry.sessionId === sessionId)
  }

  add(entry: SentInput): void {
    this.#set([...this.#entries, entry])
  }

  change(id: string, change: Partial<SentInput>): void {
    this.#set(this.#entries.map((entry) => (entry.id === id ? { ...entry, ...change } : entry)))
  }

  drop(id: string): void {
    this.#set(this.#entries.filter((entry) => entry.id !== id))
  }

  /** Remove the entries that have a row. */
  reconcile(sessionId: string, rows: RowStore): void {
    const remaining = this.#entries.filter((entry) => entry.sessionId !== sessionId || !hasRow(entry, rows))
    if (remaining.length !== this.#entries.length) this.#set(remaining)
  }

  #set(entries: readonly SentInput[]): void {
    this.#entries = entries
    this.changes.emit()
  }
}

function hasRow(entry: SentInput, rows: RowStore): boolean {
  if (entry.sendMode === 'steer') {
    return rows
      .getPanel('parts')
      .list()
      .some((part) => part.kind === 'user_text' && part.steerId === entry.id)
  }
  return (
    rows.getPanel('turns').get(entry.id) !== undefined || rows.getPanel('queue').get(entry.id) !== undefined
  )
}
