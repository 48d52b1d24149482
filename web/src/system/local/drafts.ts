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

  /** `place` is a session id, or the name of a composer without a session. */
  get(place: string): string {
    return this.#texts.get(place) ?? this.#values.read(`draft.${place}`) ?? ''
  }

  set(place: string, text: string): void {
    this.#texts.set(place, text)
    this.#values.write(`draft.${place}`, text === '' ? null : text)
    this.changes.emit()
  }

  /** Put a rejected text back, before the text typed since. */
  restore(place: string, text: string): void {
    const typed = this.get(place)
    this.set(place, typed === '' ? text : `${text}\n\n${typed}`)
  }
}
