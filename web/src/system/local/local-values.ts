/** What this browser keeps for the person: drafts, theme, language, what was read. None of it is a fact. */

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

  /** Keep a value; null forgets it. A browser that refuses to store goes on without. */
  write(name: string, value: string | null): void {
    try {
      if (value === null) this.#storage?.removeItem(PREFIX + name)
      else this.#storage?.setItem(PREFIX + name, value)
    } catch {
      // Storage may be full or forbidden: the value lasts as long as the page then.
    }
  }
}

/** The browser's storage, or null where it is forbidden. */
export function browserStorage(): Storage | null {
  try {
    return window.localStorage
  } catch {
    return null
  }
}
