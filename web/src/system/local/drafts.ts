/** What is being typed, one text a session. */
import { Signal } from '../signal'
import type { LocalValues } from './local-values'

export class Drafts {
  readonly changes = new Signal()
  readonly #values: LocalValues
  readonly #texts = new Map<string, string>()

  constructor(values: LocalValues) {
    this.#values = values
  }

  /** `place` is a session's id, or any name for a composer without a session. */
  get(place: string): string {
    return this.#texts.get(place) ?? this.#values.read(`draft.${place}`) ?? ''
  }

  set(place: string, text: string): void {
    this.#texts.set(place, text)
    this.#values.write(`draft.${place}`, text === '' ? null : text)
    this.changes.emit()
  }

  /** Give a text back that was not taken; what was typed since stands after it. */
  giveBack(place: string, text: string): void {
    const typed = this.get(place)
    this.set(place, typed === '' ? text : `${text}\n\n${typed}`)
  }
}
