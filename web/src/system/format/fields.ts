/**
 * Fields of a JSON object in text, such as the arguments of a call. Incomplete JSON has no fields.
 * Names are in snake_case; sessions of earlier versions use camelCase.
 */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>

  constructor(value: Readonly<Record<string, unknown>>) {
    this.#value = value
  }

  static parse(text: string): Fields {
    try {
      return new Fields(readObject(JSON.parse(text)) ?? {})
    } catch {
      return new Fields({})
    }
  }

  getText(name: string): string {
    const value = this.getValue(name)
    return typeof value === 'string' ? value : ''
  }

  /** The value of a field; undefined if it is absent. */
  getValue(name: string): unknown {
    return this.#value[name] ?? this.#value[name.replace(/_([a-z0-9])/g, (_, first) => first.toUpperCase())]
  }

  getFlag(name: string): boolean {
    return this.getValue(name) === true
  }

  /** The texts in a list. Other values are left out. */
  listTexts(name: string): readonly string[] {
    return this.#list(name).filter((value): value is string => typeof value === 'string')
  }

  /** The objects in a list. */
  listObjects(name: string): readonly Fields[] {
    return this.#list(name).flatMap((value) => {
      const object = readObject(value)
      return object === null ? [] : [new Fields(object)]
    })
  }

  /** The object in a field; without fields if there is none. */
  getObject(name: string): Fields {
    return new Fields(readObject(this.getValue(name)) ?? {})
  }

  #list(name: string): readonly unknown[] {
    const value = this.getValue(name)
    return Array.isArray(value) ? value : []
  }
}

function readObject(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return value as Record<string, unknown>
}
