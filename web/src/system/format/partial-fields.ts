import { Fields } from './fields'

/** How often what cannot stand at the end is cut away. */
const TRIES = 3

/**
 * The fields of an object that is still being written: a text that is cut is as far as it came, and a name that has no value
 * yet is not there.
 */
export function fieldsSoFar(text: string): Fields {
  let rest = text
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const { whole, comma } = closed(rest)
    const fields = parsed(whole)
    if (fields !== null) return fields
    if (comma < 0) break
    rest = rest.slice(0, comma)
  }
  return Fields.of('{}')
}

function parsed(text: string): Fields | null {
  try {
    JSON.parse(text)
  } catch {
    return null
  }
  return Fields.of(text)
}

/** Texts, whole or as far as they came without half an escape, and what stands between values. */
const SIGNS = /"(?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*("?)|[{}[\],]/g
const CLOSES: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/** The text with what it left open closed, and where its last comma between two values is. */
function closed(text: string): { readonly whole: string; readonly comma: number } {
  const open: string[] = []
  let comma = -1
  for (const found of text.matchAll(SIGNS)) {
    const [sign, quote] = found
    if (sign.startsWith('"')) {
      if (quote === '') return { whole: `${text.slice(0, found.index)}${sign}"${ends(open)}`, comma }
    } else if (sign === ',') comma = found.index
    else if (sign in CLOSES) open.push(CLOSES[sign] ?? '')
    else open.pop()
  }
  return { whole: text.replace(/[,\s]+$/, '') + ends(open), comma }
}

function ends(open: readonly string[]): string {
  return [...open].reverse().join('')
}
