/**
 * The page's credential: where it comes from, and how requests carry it.
 *
 * It lives in `sessionStorage`, which is of one tab and one origin, port included, and never in a cookie: browsers send
 * cookies to every port of a host. A tab without one asks the open tabs of this origin.
 */
import type { Fetch } from '../api/upload'
import { Signal } from '../signal'

/** What a page holds. The key confirms commands and is sent once, when the credential is issued. */
interface Held {
  readonly credential: string
  readonly proofKey: string
}

/** The parts of a browser that this needs. */
export interface Browser {
  readonly fetch: Fetch
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null
  /** The fragment of the address. */
  readonly hash: () => string
  /** Replace the fragment, in the address and in the history. */
  readonly replaceHash: (hash: string) => void
  readonly channel: Channel | null
  readonly crypto: Pick<Crypto, 'getRandomValues' | 'subtle'>
}

/** A broadcast to the other tabs of this origin. */
export interface Channel {
  postMessage(message: unknown): void
  onmessage: ((event: MessageEvent) => void) | null
}

type Message = { readonly ask: true } | { readonly held: Held; readonly issued: boolean }

const NAME = 'callboard.credential'
const CODE = /^#open=([A-Za-z0-9_-]+)(.*)$/
const REDEEM = '/api/v1/page/credentials'
const CHALLENGE = '/api/v1/page/confirmations'
const CONFIRMATION = 'callboard-confirmation'
const KEY_BYTES = 32
/** How long open tabs have to answer, in milliseconds. */
const ASK_MS = 300

export class PageAccess {
  /** Emits when this tab got another credential. */
  readonly changes = new Signal()
  readonly #browser: Browser
  #held: Held | null
  #ready: Promise<void>
  #answered: (() => void) | null = null
  readonly #refused = new Set<string>()

  constructor(browser: Browser) {
    this.#browser = browser
    this.#held = this.#stored()
    if (browser.channel !== null) browser.channel.onmessage = (event) => this.#hear(event.data as Message)
    const [, code, rest = ''] = CODE.exec(browser.hash()) ?? []
    // The code leaves the address before anything else happens, whether or not it is still valid.
    if (code !== undefined) browser.replaceHash(`#${rest}`)
    this.#ready = code === undefined ? this.#ask() : this.#redeem(code)
  }

  /** Send a request with the credential. Where it is refused, another tab may have a newer one. */
  readonly fetch: Fetch = async (path, init = {}) => {
    await this.#ready
    const sent = this.#held
    const response = await this.#send(path, init)
    if (response.status !== 401) return response
    if (this.#held === sent) this.#renew()
    await this.#ready
    return this.#held === null ? response : this.#send(path, init)
  }

  /** The headers of a request that is not sent by `fetch`. */
  async headers(): Promise<Readonly<Record<string, string>>> {
    await this.#ready
    return this.#headers()
  }

  /** The header that confirms one command with one body. Call it for what a person confirmed on the page, and nothing else. */
  async confirmation(command: string, body: string): Promise<Readonly<Record<string, string>>> {
    const bodySha256 = hex(await this.#browser.crypto.subtle.digest('SHA-256', bytesOf(body)))
    const response = await this.fetch(CHALLENGE, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ command, bodySha256 }),
    })
    // What is refused here is refused again, with its reason, where the command is sent.
    if (!response.ok || this.#held === null) return {}
    const { challenge } = (await response.json()) as { readonly challenge: string }
    return { [CONFIRMATION]: `${challenge}.${await this.#proof(`${challenge}\n${command}\n${bodySha256}`)}` }
  }

  #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string> | undefined), ...this.#headers() }
    return this.#browser.fetch(path, { ...init, headers, credentials: 'omit' })
  }

  #headers(): Readonly<Record<string, string>> {
    return this.#held === null ? {} : { authorization: `Bearer ${this.#held.credential}` }
  }

  async #proof(text: string): Promise<string> {
    const { subtle } = this.#browser.crypto
    const raw = Uint8Array.from(atob(this.#held?.proofKey ?? ''), (character) => character.charCodeAt(0))
    const key = await subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    return hex(await subtle.sign('HMAC', key, bytesOf(text)))
  }

  async #redeem(code: string): Promise<void> {
    const random = this.#browser.crypto.getRandomValues(new Uint8Array(KEY_BYTES))
    const proofKey = btoa(String.fromCharCode(...random))
    try {
      const response = await this.#browser.fetch(REDEEM, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code, proofKey }),
        credentials: 'omit',
      })
      if (response.ok) {
        const { credential } = (await response.json()) as { readonly credential: string }
        this.#hold({ credential, proofKey })
        this.#browser.channel?.postMessage({ held: { credential, proofKey }, issued: true } satisfies Message)
        return
      }
    } catch {
      // The first request tells that the server does not answer.
    }
    // A code that was used before may be of this browser: a tab that was opened twice.
    await this.#ask()
  }

  /** Ask the open tabs, where this one has nothing. */
  #ask(): Promise<void> {
    const { channel } = this.#browser
    if (this.#held !== null || channel === null) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ASK_MS)
      this.#answered = () => {
        clearTimeout(timer)
        resolve()
      }
      channel.postMessage({ ask: true } satisfies Message)
    })
  }

  /** What was refused is no longer kept, nor taken from another tab that does not know it yet. */
  #renew(): void {
    if (this.#held !== null) this.#refused.add(this.#held.credential)
    this.#drop()
    this.#ready = this.#ask()
  }

  #hear(message: Message): void {
    if ('ask' in message) {
      if (this.#held !== null)
        this.#browser.channel?.postMessage({ held: this.#held, issued: false } satisfies Message)
      return
    }
    const { held, issued } = message
    if (this.#refused.has(held.credential) || (this.#held !== null && !issued)) return
    this.#hold(held)
    this.#answered?.()
    this.changes.emit()
  }

  #hold(held: Held): void {
    this.#held = held
    try {
      this.#browser.storage?.setItem(NAME, JSON.stringify(held))
    } catch {
      // Storage may be forbidden: the credential lasts as long as the page then.
    }
  }

  #drop(): void {
    this.#held = null
    try {
      this.#browser.storage?.removeItem(NAME)
    } catch {
      // As above.
    }
  }

  #stored(): Held | null {
    try {
      const kept = this.#browser.storage?.getItem(NAME)
      return kept ? (JSON.parse(kept) as Held) : null
    } catch {
      return null
    }
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function hex(buffer: ArrayBuffer): string {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
