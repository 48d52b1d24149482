/** Rules for texts: words that English texts avoid, and the typography of Chinese texts. */
import words from './avoided-words.json'

/** Whole words, also read by `scripts/check_style.py`. The page avoids some words that documents may use. */
const AVOIDED_WORDS = new RegExp(`\\b(?:${[...words.texts, ...words.pageTexts].join('|')})\\b`, 'i')

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
