/**
 * Fields of a JSON object that came as text, such as the arguments of a call. What is no whole object has none. A field is
 * named in snake_case; sessions of earlier versions have it in camelCase.
 */
export class Fields {
  readonly #value: Readonly<Record<string, unknown>>

  constructor(value: Readonly<Record<string, unknown>>) {
    this.#value = value
  }

  static of(text: string): Fields {
    try {
      return new Fields(asObject(JSON.parse(text)) ?? {})
    } catch {
      return new Fields({})
    }
  }

  text(name: string): string {
    const value = this.value(name)
    return typeof value === 'string' ? value : ''
  }

  /** Whatever stands under that name; undefined where nothing does. */
  value(name: string): unknown {
    return this.#value[name] ?? this.#value[name.replace(/_([a-z0-9])/g, (_, first) => first.toUpperCase())]
  }

  flag(name: string): boolean {
    return this.value(name) === true
  }

  /** The texts of a list; what is no text in it is left out. */
  texts(name: string): readonly string[] {
    return this.#list(name).filter((value): value is string => typeof value === 'string')
  }

  /** The objects of a list. */
  objects(name: string): readonly Fields[] {
    return this.#list(name).flatMap((value) => {
      const object = asObject(value)
      return object === null ? [] : [new Fields(object)]
    })
  }

  /** The object of that name; one without fields where there is none. */
  object(name: string): Fields {
    return new Fields(asObject(this.value(name)) ?? {})
  }

  #list(name: string): readonly unknown[] {
    const value = this.value(name)
    return Array.isArray(value) ? value : []
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return value as Record<string, unknown>
}
