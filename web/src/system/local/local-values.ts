/**
 * Values in this browser's storage: drafts, theme, language, read marks. None of them is a fact.
 */

const PREFIX = 'callboard.'

export class LocalValues {
  readonly #storage: Storage | null

  constructor(storage: Storage | null) {
    this.#storage = storage
  }

  read(name: string): string | null {
    try {
      return this.#storage?.getItem(PREFIX + name) ?? null
    } catch {
      return null
    }
  }

  /** Store a value; null deletes it. Does nothing if the browser refuses to store. */
  write(name: string, value: string | null): void {
    try {
      if (value === null) this.#storage?.removeItem(PREFIX + name)
      else this.#storage?.setItem(PREFIX + name, value)
    } catch {
      // Storage may be full or forbidden. The value then lasts until the page closes.
    }
  }
}

/** The browser's storage; null if it is forbidden. */
export function getBrowserStorage(): Storage | null {
  try {
    return window.localStorage
  } catch {
    return null
  }
}
