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

/** The text with what it left open closed, and where its last comma between two values is. */
function closed(text: string): { readonly whole: string; readonly comma: number } {
  const open: string[] = []
  let quoted = false
  let comma = -1
  let end = text.length
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index]
    if (quoted && sign === '\\') {
      const escape = text[index + 1] === 'u' ? 6 : 2
      if (index + escape > text.length) end = index
      index += escape - 1
    } else if (sign === '"') quoted = !quoted
    else if (quoted) continue
    else if (sign === ',') comma = index
    else if (sign === '{') open.push('}')
    else if (sign === '[') open.push(']')
    else if (sign === '}' || sign === ']') open.pop()
  }
  const ended = quoted ? `${text.slice(0, end)}"` : text.replace(/[,\s]+$/, '')
  return { whole: ended + open.reverse().join(''), comma }
}
