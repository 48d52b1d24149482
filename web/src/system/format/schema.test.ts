import { expect, test } from 'vitest'
import { buildForm, type Field, getInitialValue, parseValue, validateField } from './schema'

const SCHEMA = {
  type: 'object',
  required: ['email', 'plan'],
  properties: {
    email: { type: 'string', title: 'E-mail', format: 'email', minLength: 3 },
    seats: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
    plan: { type: 'string', enum: ['free', 'paid'], enumNames: ['Free', 'Paid'] },
    size: { oneOf: [{ const: 's', title: 'Small' }, { const: 'l' }] },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    news: { type: 'boolean', default: true },
    share: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    nested: { type: 'object' },
  },
}

const getField = (name: string) => buildForm(SCHEMA).fields.find((field) => field.name === name) as Field

test('a schema has a field for each plain property, and lists what a form cannot show', () => {
  const { fields, unsupported: beyond } = buildForm(SCHEMA)
  expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
    ['email', 'text'],
    ['seats', 'integer'],
    ['plan', 'choice'],
    ['size', 'choice'],
    ['tags', 'choices'],
    ['news', 'boolean'],
    ['share', 'number'],
  ])
  expect(beyond).toEqual(['nested'])
  expect(getField('plan').options).toEqual([
    { value: 'free', label: 'Free' },
    { value: 'paid', label: 'Paid' },
  ])
  expect(getField('size').options.map((option) => option.label)).toEqual(['Small', 'l'])
})

test('a ref is resolved, and a property of a schema can have its own form', () => {
  const settings = {
    $ref: '#/$defs/All',
    $defs: {
      All: { properties: { shell: { $ref: '#/$defs/Shell', default: {} } } },
      Shell: { properties: { timeout: { type: 'number', exclusiveMinimum: 0 } } },
    },
  }
  expect(buildForm(settings, 'shell').fields.map(({ name, minimum }) => [name, minimum])).toEqual([
    ['timeout', 0],
  ])
})

test('typed values are validated, and converted to the schema', () => {
  expect(validateField(getField('email'), '')).toBe('required')
  expect(validateField(getField('email'), 'a')).toBe('short')
  expect(validateField(getField('seats'), '2.5')).toBe('integer')
  expect(validateField(getField('seats'), '12')).toBe('most')
  expect(validateField(getField('share'), 'x')).toBe('number')
  expect(validateField(getField('plan'), 'other')).toBe('choice')
  expect(validateField(getField('seats'), '')).toBeNull()
  expect([
    getInitialValue(getField('seats')),
    getInitialValue(getField('news')),
    getInitialValue(getField('email')),
  ]).toEqual(['2', true, ''])
  expect([
    parseValue(getField('seats'), '3'),
    parseValue(getField('share'), ''),
    parseValue(getField('tags'), ['a']),
  ]).toEqual([3, undefined, ['a']])
})

test('a value that is not an object schema has no fields', () => {
  expect(buildForm(null)).toEqual({ fields: [], unsupported: [] })
  expect(buildForm({ $ref: '#/nowhere' })).toEqual({ fields: [], unsupported: [] })
})
