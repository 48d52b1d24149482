import { expect, test } from 'vitest'
import { type Field, formOf, givenOf, problemOf, typedOf } from './schema'

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

const field = (name: string) => formOf(SCHEMA).fields.find((field) => field.name === name) as Field

test('a schema gives a field for each plain property, and names what it cannot ask for', () => {
  const { fields, beyond } = formOf(SCHEMA)
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
  expect(field('plan').options).toEqual([
    { value: 'free', label: 'Free' },
    { value: 'paid', label: 'Paid' },
  ])
  expect(field('size').options.map((option) => option.label)).toEqual(['Small', 'l'])
})

test('what a property refers to stands in its place, and a part of a schema has a form of its own', () => {
  const settings = {
    $ref: '#/$defs/All',
    $defs: {
      All: { properties: { shell: { $ref: '#/$defs/Shell', default: {} } } },
      Shell: { properties: { timeout: { type: 'number', exclusiveMinimum: 0 } } },
    },
  }
  expect(formOf(settings, 'shell').fields.map(({ name, minimum }) => [name, minimum])).toEqual([
    ['timeout', 0],
  ])
})

test('what is typed is checked, and becomes a value of the schema', () => {
  expect(problemOf(field('email'), '')).toBe('required')
  expect(problemOf(field('email'), 'a')).toBe('short')
  expect(problemOf(field('seats'), '2.5')).toBe('integer')
  expect(problemOf(field('seats'), '12')).toBe('most')
  expect(problemOf(field('share'), 'x')).toBe('number')
  expect(problemOf(field('plan'), 'other')).toBe('choice')
  expect(problemOf(field('seats'), '')).toBeNull()
  expect([typedOf(field('seats')), typedOf(field('news')), typedOf(field('email'))]).toEqual(['2', true, ''])
  expect([givenOf(field('seats'), '3'), givenOf(field('share'), ''), givenOf(field('tags'), ['a'])]).toEqual([
    3,
    undefined,
    ['a'],
  ])
})

test('what is no schema of an object has no fields', () => {
  expect(formOf(null)).toEqual({ fields: [], beyond: [] })
  expect(formOf({ $ref: '#/nowhere' })).toEqual({ fields: [], beyond: [] })
})
