/** Drafts of inputs, one per session. */
import { Signal } from '../signal'
import type { LocalValues } from './local-values'

export class Drafts {
  readonly changes = new Signal()
  readonly #values: LocalValues
  readonly #texts = new Map<string, string>()

  constructor(values: LocalValues) {
    this.#values = values
  }

  /** `draftKey` is a session id, or the name of a composer without a session. */
  get(draftKey: string): string {
    return this.#texts.get(draftKey) ?? this.#values.read(`draft.${draftKey}`) ?? ''
  }

  set(draftKey: string, text: string): void {
    this.#texts.set(draftKey, text)
    this.#values.write(`draft.${draftKey}`, text === '' ? null : text)
    this.changes.emit()
  }

  /** Put a rejected text back, before the text typed since. */
  restore(draftKey: string, text: string): void {
    const typed = this.get(draftKey)
    this.set(draftKey, typed === '' ? text : `${text}\n\n${typed}`)
  }
}
