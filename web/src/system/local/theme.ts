/** Light, dark, or what the system says. The stylesheet does the rest from one attribute. */
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
    this.#show()
  }

  get current(): Theme {
    const kept = this.#values.read('theme')
    return THEMES.find((theme) => theme === kept) ?? 'system'
  }

  choose(theme: Theme): void {
    this.#values.write('theme', theme)
    this.#show()
    this.changes.emit()
  }

  #show(): void {
    if (this.current === 'system') this.#root.removeAttribute('data-theme')
    else this.#root.setAttribute('data-theme', this.current)
  }
}
