/** The languages of the page, and the current one. Texts other than English load on demand. */
import type { LocalValues } from '../local/local-values'
import { Signal } from '../signal'
import { en } from './en'
import { createTranslator, type Texts, type Translate } from './translate'

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
  #translate: Translate = createTranslator(en, LOCALES.en)

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

  /** Show the language chosen before, or the first supported language of the browser. */
  begin(preferred: readonly string[]): Promise<void> {
    return this.#show(findLanguage(this.#values.read('language')) ?? findSupported(preferred) ?? 'en')
  }

  async choose(language: Language): Promise<void> {
    this.#values.write('language', language)
    await this.#show(language)
  }

  async #show(language: Language): Promise<void> {
    this.#translate = createTranslator(await loadTexts(language), LOCALES[language])
    this.#current = language
    this.#root.lang = LOCALES[language]
    this.changes.emit()
  }
}

async function loadTexts(language: Language): Promise<Texts> {
  if (language === 'en') return en
  return (await import('./zh')).zh
}

function findLanguage(code: string | null): Language | null {
  return LANGUAGES.find((language) => language.code === code)?.code ?? null
}

function findSupported(preferred: readonly string[]): Language | null {
  for (const tag of preferred) {
    const language = findLanguage(tag.split('-')[0]?.toLowerCase() ?? null)
    if (language !== null) return language
  }
  return null
}
