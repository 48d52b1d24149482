/** A change notifier. `version` differs after every change. */
export class Signal {
  #version = 0
  readonly #listeners = new Set<() => void>()

  get version(): number {
    return this.#version
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  emit(): void {
    this.#version++
    for (const listener of [...this.#listeners]) listener()
  }
}

/** A signal that never emits. */
export const NO_SIGNAL = new Signal()
