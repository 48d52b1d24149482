/** The languages of the page, and which one to show. Texts other than English are loaded when they are chosen. */
import type { LocalValues } from '../local/local-values'
import { Signal } from '../signal'
import { en } from './en'
import { type Texts, type Translate, translator } from './translate'

export const LANGUAGES = [
  { code: 'en', name: 'English' },
  { code: 'zh', name: '中文' },
] as const
export type Language = (typeof LANGUAGES)[number]['code']

const LOCALES: Record<Language, string> = { en: 'en', zh: 'zh-CN' }

export class LanguageChoice {
  readonly changes = new Signal()
  readonly #values: LocalValues
  readonly #root: HTMLElement
  #current: Language = 'en'
  #translate: Translate = translator(en, LOCALES.en)

  constructor(values: LocalValues, root: HTMLElement) {
    this.#values = values
    this.#root = root
  }

  get current(): Language {
    return this.#current
  }

  get translate(): Translate {
    return this.#translate
  }

  /** Show the language that was chosen here before, or the first of the browser's that there is. */
  begin(preferred: readonly string[]): Promise<void> {
    return this.#show(asLanguage(this.#values.read('language')) ?? firstOf(preferred) ?? 'en')
  }

  async choose(language: Language): Promise<void> {
    this.#values.write('language', language)
    await this.#show(language)
  }

  async #show(language: Language): Promise<void> {
    this.#translate = translator(await texts(language), LOCALES[language])
    this.#current = language
    this.#root.lang = LOCALES[language]
    this.changes.emit()
  }
}

async function texts(language: Language): Promise<Texts> {
  if (language === 'en') return en
  return (await import('./zh')).zh
}

function asLanguage(code: string | null): Language | null {
  return LANGUAGES.find((language) => language.code === code)?.code ?? null
}

function firstOf(preferred: readonly string[]): Language | null {
  for (const tag of preferred) {
    const language = asLanguage(tag.split('-')[0]?.toLowerCase() ?? null)
    if (language !== null) return language
  }
  return null
}
