/** Read marks per session: the time of the newest turn that was on the screen, in microseconds. */
import { Signal } from '../signal'
import type { LocalValues } from './local-values'

export class ReadMarks {
  readonly changes = new Signal()
  readonly #values: LocalValues
  readonly #marks: Map<string, number>

  constructor(values: LocalValues) {
    this.#values = values
    this.#marks = new Map(Object.entries(parse(values.read('seen'))))
  }

  /** A session without a mark is not unread: it may be years old. */
  isUnread(sessionId: string, updatedAt: number): boolean {
    const mark = this.#marks.get(sessionId)
    return mark !== undefined && updatedAt > mark
  }

  /** Set the mark of a session that has none. */
  begin(sessionId: string, updatedAt: number): void {
    if (!this.#marks.has(sessionId)) this.mark(sessionId, updatedAt)
  }

  mark(sessionId: string, updatedAt: number): void {
    if ((this.#marks.get(sessionId) ?? -1) >= updatedAt) return
    this.#marks.set(sessionId, updatedAt)
    this.#values.write('seen', JSON.stringify(Object.fromEntries(this.#marks)))
    this.changes.emit()
  }
}

function parse(text: string | null): Record<string, number> {
  if (text === null) return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, number>) : {}
  } catch {
    return {}
  }
}
