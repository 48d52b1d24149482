import { expect, test } from 'vitest'
import { readPartialFields } from './partial-fields'

const WHOLE = JSON.stringify({ summary: 'Mend "it", ü\\n.', steps: ['look', 'mend, then test'], done: true })

test('streaming fields read as far as they go, wherever they are cut (CTX-03)', () => {
  let steps = 0
  let summary = ''
  for (let end = 0; end <= WHOLE.length; end += 1) {
    const fields = readPartialFields(WHOLE.slice(0, end))
    const now = fields.listTexts('steps')
    expect('Mend "it", ü\\n.'.startsWith(fields.getText('summary'))).toBe(true)
    expect(fields.getText('summary').length).toBeGreaterThanOrEqual(summary.length)
    expect(now.length).toBeGreaterThanOrEqual(steps)
    summary = fields.getText('summary')
    steps = now.length
  }
  expect([summary, steps]).toEqual(['Mend "it", ü\\n.', 2])
})

test('an incomplete escape is left out', () => {
  expect(readPartialFields('{"summary":"a\\u00').getText('summary')).toBe('a')
  expect(readPartialFields('{"summary":"a\\').getText('summary')).toBe('a')
})

test('a value that is not an object has no fields', () => {
  for (const text of ['', '[', '"a', 'null', '}{'])
    expect(readPartialFields(text).getText('summary')).toBe('')
})
