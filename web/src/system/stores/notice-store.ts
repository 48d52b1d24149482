/** Notices about refused or failed requests, until they are dismissed. */
import { ApiProblem } from '../api/problem'
import { Signal } from '../signal'

/** Why a request was refused or failed. */
export interface Refusal {
  readonly code: string
  readonly message: string
  readonly hint: string
  /** The field of the request that caused it; empty if it is about the whole request. */
  readonly field: string
  /** Details the code; the page translates it with `params`. */
  readonly reason?: string
  readonly params?: Readonly<Record<string, string>>
}

export interface Notice extends Refusal {
  readonly id: number
}

export class NoticeStore {
  readonly changes = new Signal()
  #list: readonly Notice[] = []
  #next = 1

  get list(): readonly Notice[] {
    return this.#list
  }

  add(error: unknown): void {
    this.addRefusal(buildRefusal(error))
  }

  addRefusal(refusal: Refusal): void {
    const notice = { id: this.#next++, ...refusal }
    const isSame = (other: Notice) => other.code === notice.code && other.message === notice.message
    this.#list = [...this.#list.filter((other) => !isSame(other)), notice].slice(-4)
    this.changes.emit()
  }

  dismiss(id: number): void {
    this.#list = this.#list.filter((notice) => notice.id !== id)
    this.changes.emit()
  }
}

export function buildRefusal(error: unknown): Refusal {
  if (error instanceof ApiProblem) {
    const { code, message, hint, field, reason, params } = error
    return { code, message, hint, field, reason, params }
  }
  return {
    code: 'internal',
    message: error instanceof Error ? error.message : String(error),
    hint: '',
    field: '',
  }
}
