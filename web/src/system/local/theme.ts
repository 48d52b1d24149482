/** Light, dark or system theme, set as an attribute that the stylesheet reads. */
import { Signal } from '../signal'
import type { LocalValues } from './local-values'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export class ThemeChoice {
  readonly changes = new Signal()
  readonly #values: LocalValues
  readonly #root: HTMLElement

  constructor(values: LocalValues, root: HTMLElement) {
    this.#values = values
    this.#root = root
    this.#apply()
  }

  get current(): Theme {
    const stored = this.#values.read('theme')
    return THEMES.find((theme) => theme === stored) ?? 'system'
  }

  choose(theme: Theme): void {
    this.#values.write('theme', theme)
    this.#apply()
    this.changes.emit()
  }

  #apply(): void {
    if (this.current === 'system') this.#root.removeAttribute('data-theme')
    else this.#root.setAttribute('data-theme', this.current)
  }
}
