/**
 * Forms from JSON Schemas of objects with plain properties: text, numbers, booleans, choices. A form
 * lists the properties that it cannot show.
 */

export interface Field {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly required: boolean
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices' | 'lines'
  readonly options: readonly { readonly value: string; readonly label: string }[]
  readonly minimum: number | null
  readonly maximum: number | null
  readonly minLength: number
  readonly maxLength: number | null
  readonly format: string
  readonly initial: unknown
}

export interface Form {
  readonly fields: readonly Field[]
  /** Properties that a form cannot show. */
  readonly unsupported: readonly string[]
}

type Json = Readonly<Record<string, unknown>>

function readObject(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null
}

/** Build the form of a schema, or of its property `name`. */
export function buildForm(schema: unknown, name?: string): Form {
  const root = readObject(schema) ?? {}
  let object = resolveSchema(root, root)
  if (name !== undefined)
    object = resolveSchema(readObject(readObject(object.properties)?.[name]) ?? {}, root)
  const required = Array.isArray(object.required) ? object.required : []
  const fields: Field[] = []
  const beyond: string[] = []
  for (const [key, value] of Object.entries(readObject(object.properties) ?? {})) {
    const field = buildField(key, resolveSchema(readObject(value) ?? {}, root), required.includes(key))
    if (field === null) beyond.push(key)
    else fields.push(field)
  }
  return { fields, unsupported: beyond }
}

/** Resolve `$ref`, and reduce a nullable schema to its other type. */
function resolveSchema(schema: Json, root: Json): Json {
  const ref = schema.$ref
  if (typeof ref === 'string' && ref.startsWith('#/')) {
    let target: unknown = root
    for (const step of ref.slice(2).split('/')) target = readObject(target)?.[step]
    return resolveSchema({ ...(readObject(target) ?? {}), ...omit(schema, '$ref') }, root)
  }
  if (Array.isArray(schema.anyOf)) {
    const others = schema.anyOf
      .map(readObject)
      .filter((other): other is Json => other !== null && other.type !== 'null')
    const [only] = others
    if (only !== undefined && others.length === 1)
      return resolveSchema({ ...only, ...omit(schema, 'anyOf') }, root)
  }
  return schema
}

function omit(schema: Json, name: string): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== name))
}

function buildField(name: string, schema: Json, required: boolean): Field | null {
  const kind = detectKind(schema)
  if (kind === null) return null
  return {
    name,
    title: readString(schema.title) || name,
    description: readString(schema.description),
    required,
    kind,
    options: readOptions(kind === 'choices' ? (readObject(schema.items) ?? {}) : schema),
    minimum: readNumber(schema.minimum) ?? readNumber(schema.exclusiveMinimum),
    maximum: readNumber(schema.maximum) ?? readNumber(schema.exclusiveMaximum),
    minLength: readNumber(schema.minLength) ?? 0,
    maxLength: readNumber(schema.maxLength),
    format: readString(schema.format),
    initial: schema.default ?? null,
  }
}

function detectKind(schema: Json): Field['kind'] | null {
  if (readOptions(schema).length > 0) return 'choice'
  switch (schema.type) {
    case 'string':
      return 'text'
    case 'number':
    case 'integer':
    case 'boolean':
      return schema.type
    case 'array': {
      const items = readObject(schema.items) ?? {}
      if (readOptions(items).length > 0) return 'choices'
      return items.type === 'string' ? 'lines' : null
    }
    default:
      return null
  }
}

function readOptions(schema: Json): Field['options'] {
  const titled = [schema.oneOf, schema.anyOf].find(Array.isArray)
  if (titled !== undefined) {
    const all = titled.map(readObject)
    if (all.length > 0 && all.every((choice) => typeof choice?.const === 'string')) {
      return all.map((choice) => ({
        value: readString(choice?.const),
        label: readString(choice?.title) || readString(choice?.const),
      }))
    }
  }
  if (!Array.isArray(schema.enum)) return []
  const values = schema.enum.filter((value): value is string => typeof value === 'string')
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : []
  return values.map((value, index) => ({ value, label: readString(names[index]) || value }))
}

function readString(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** The state of a form field: typed text, a boolean, or selected choices. */
export type FieldValue = string | boolean | readonly string[]
export type FieldValues = Readonly<Record<string, FieldValue>>

/** The initial state of a field, from its value or the schema's default. */
export function getInitialValue(field: Field, value: unknown = field.initial): FieldValue {
  if (field.kind === 'boolean') return value === true
  if (field.kind === 'choices')
    return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
  if (field.kind === 'lines') return Array.isArray(value) ? value.join('\n') : ''
  return value === null || value === undefined ? '' : String(value)
}

export type FieldProblem = 'required' | 'number' | 'integer' | 'least' | 'most' | 'short' | 'long' | 'choice'

/** Validate the state of a field. Null if it is valid. */
export function validateField(field: Field, typed: FieldValue): FieldProblem | null {
  if (typeof typed === 'boolean') return null
  if (typeof typed !== 'string') return field.required && typed.length === 0 ? 'required' : null
  if (typed.trim() === '') return field.required ? 'required' : null
  if (field.kind === 'choice') return field.options.some((option) => option.value === typed) ? null : 'choice'
  if (field.kind === 'number' || field.kind === 'integer') return checkNumber(field, Number(typed))
  if (typed.length < field.minLength) return 'short'
  return field.maxLength !== null && typed.length > field.maxLength ? 'long' : null
}

function checkNumber({ kind, minimum, maximum }: Field, value: number): FieldProblem | null {
  if (!Number.isFinite(value)) return 'number'
  if (kind === 'integer' && !Number.isInteger(value)) return 'integer'
  if (minimum !== null && value < minimum) return 'least'
  return maximum !== null && value > maximum ? 'most' : null
}

/** Convert the state of a field to a value of the schema; undefined if it is empty. */
export function parseValue(field: Field, typed: FieldValue): unknown {
  if (typeof typed !== 'string') return typed
  if (field.kind === 'lines')
    return typed
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  if (typed.trim() === '') return undefined
  return field.kind === 'number' || field.kind === 'integer' ? Number(typed) : typed
}
