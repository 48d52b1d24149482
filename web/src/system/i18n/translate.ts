/** Keyed texts. A missing key does not compile; a text without a key fails a test. */
import type { en } from './en'

export type Key = keyof typeof en
export type Texts = Readonly<Record<Key, string>>
type Stem<K> = K extends `${infer S}_one` ? (`${S}_other` extends Key ? S : never) : never
/** A key with a singular and a plural form. */
export type CountKey = Stem<Key>
export type Parameters = Readonly<Record<string, string | number>>

export interface Translate {
  (key: Key, parameters?: Parameters): string
  /** The singular or plural form, with `{count}` filled in. */
  readonly count: (key: CountKey, count: number, parameters?: Parameters) => string
  /** The text of a key that is built from a wire value; null if this version has no such key. */
  readonly find: (key: string, parameters?: Parameters) => string | null
  readonly locale: string
}

export function createTranslator(texts: Texts, locale: string): Translate {
  const plurals = new Intl.PluralRules(locale)
  const numbers = new Intl.NumberFormat(locale)
  const translate = (key: Key, parameters?: Parameters) => fillIn(texts[key], parameters)
  const count = (key: CountKey, value: number, parameters?: Parameters) => {
    const form = plurals.select(value) === 'one' ? 'one' : 'other'
    return fillIn(texts[`${key}_${form}` as Key], { ...parameters, count: numbers.format(value) })
  }
  const find = (key: string, parameters?: Parameters) =>
    Object.hasOwn(texts, key) ? fillIn(texts[key as Key], parameters) : null
  return Object.assign(translate, { count, find, locale })
}

function fillIn(text: string, parameters: Parameters | undefined): string {
  if (parameters === undefined) return text
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(parameters, name) ? String(parameters[name]) : whole,
  )
}
