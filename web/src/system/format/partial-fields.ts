import { Fields } from './fields'

/** Attempts to cut an incomplete value off the end. */
const TRIES = 3

/**
 * Read the fields of an object that is still streaming. A truncated text is returned as far as it
 * goes; a field without a value is absent.
 */
export function readPartialFields(text: string): Fields {
  let rest = text
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const { whole, comma } = closeOpenValues(rest)
    const fields = parseFields(whole)
    if (fields !== null) return fields
    if (comma < 0) break
    rest = rest.slice(0, comma)
  }
  return Fields.parse('{}')
}

function parseFields(text: string): Fields | null {
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  return Fields.parse(text)
}

/**
 * Strings, complete or truncated before an incomplete escape, and the punctuation between values.
 */
const SIGNS = /"(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*("?)|[{}[\],]/g
const CLOSES: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/**
 * Close the open strings, lists and objects. `comma` is the position of the last comma between two
 * values.
 */
function closeOpenValues(text: string): { readonly whole: string; readonly comma: number } {
  const open: string[] = []
  let comma = -1
  for (const match of text.matchAll(SIGNS)) {
    const [sign, quote] = match
    if (sign.startsWith('"')) {
      if (quote === '') return { whole: `${text.slice(0, match.index)}${sign}"${buildClosers(open)}`, comma }
    } else if (sign === ',') comma = match.index
    else if (sign in CLOSES) open.push(CLOSES[sign] ?? '')
    else open.pop()
  }
  return { whole: text.replace(/[,\s]+$/, '') + buildClosers(open), comma }
}

function buildClosers(open: readonly string[]): string {
  return [...open].reverse().join('')
}
