import { expect, test } from 'vitest'
import { readPartialFields } from './partial-fields'

const WHOLE = JSON.stringify({ summary: 'Mend "it", ü\\n.', steps: ['look', 'mend, then test'], done: true })

test('streaming fields read as far as they go, wherever they are cut (CTX-03)', () => {
  let steps = 0
  let summary = ''
  for (let end = 0; end <= WHOLE.length; end += 1) {
    const fields = readPartialFields(WHOLE.slice(0, end))
    const now = fields.texts('steps')
    expect('Mend "it", ü\\n.'.startsWith(fields.text('summary'))).toBe(true)
    expect(fields.text('summary').length).toBeGreaterThanOrEqual(summary.length)
    expect(now.length).toBeGreaterThanOrEqual(steps)
    summary = fields.text('summary')
    steps = now.length
  }
  expect([summary, steps]).toEqual(['Mend "it", ü\\n.', 2])
})

test('an incomplete escape is left out', () => {
  expect(readPartialFields('{"summary":"a\\u00').text('summary')).toBe('a')
  expect(readPartialFields('{"summary":"a\\').text('summary')).toBe('a')
})

test('a value that is not an object has no fields', () => {
  for (const text of ['', '[', '"a', 'null', '}{']) expect(readPartialFields(text).text('summary')).toBe('')
})
