/** Rules for texts: words that English texts avoid, and the typography of Chinese texts. */

/** From the style guide. Each is matched as whole words. */
const AVOIDED: readonly string[] = [
  'mend|mends|mended|mending',
  'tell|tells|told|telling',
  'nobody|whoever|whatever|somebody|anybody',
  'shall',
  'is none|are none|is no longer',
  'stands|stood',
  'go on|goes on|going on',
  'take up|takes up|taken up|take away|take back',
  'cut off|cut short',
  'as usual|the usual',
  'a no|a yes',
  'by itself|by themselves',
  'of its own|of their own',
  'beside the words|in (?:its|the runtime’s) own words',
  'elsewhere|meanwhile',
  'says|said',
]
const AVOIDED_WORDS = new RegExp(`\\b(?:${AVOIDED.join('|')})\\b`, 'i')

const HAN = '[\\u4e00-\\u9fff]'
const UNSPACED = new RegExp(`${HAN}[A-Za-z0-9]|[A-Za-z0-9]${HAN}`)
const HALF_WIDTH = new RegExp(`${HAN}[,;:!?()]|[,;:!?()]${HAN}`)

/** The first avoided word in an English text, or null. */
export function findAvoidedWord(text: string): string | null {
  return AVOIDED_WORDS.exec(dropPlaceholders(text))?.[0] ?? null
}

/** The first half-width punctuation or missing space in a Chinese text, or null. */
export function findChineseTypo(text: string): string | null {
  const literal = dropPlaceholders(text)
  return (UNSPACED.exec(literal) ?? HALF_WIDTH.exec(literal))?.[0] ?? null
}

function dropPlaceholders(text: string): string {
  return text.replace(/\{\w+\}/g, ' ')
}
