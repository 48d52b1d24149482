/**
 * The page's credential: its source, and how requests carry it.
 *
 * `sessionStorage` holds it, which belongs to one tab and one origin (port included). It is never in
 * a cookie, because browsers send cookies to every port of a host. A tab without a credential asks
 * the open tabs of this origin.
 */
import type { Fetch } from '../api/upload'
import { Signal } from '../signal'

/** A credential and its key. The server sends the key once; the key confirms commands. */
interface StoredCredential {
  readonly credential: string
  readonly proofKey: string
}

/** The parts of a browser that `PageAccess` uses. */
export interface Browser {
  readonly fetch: Fetch
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null
  /** The fragment of the address. */
  readonly readHash: () => string
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

type Message = { readonly ask: true } | { readonly held: StoredCredential; readonly issued: boolean }

const NAME = 'callboard.credential'
const CODE = /^#open=([A-Za-z0-9_-]+)(.*)$/
const REDEEM = '/api/v1/page/credentials'
const CHALLENGE = '/api/v1/page/confirmations'
const CONFIRMATION = 'callboard-confirmation'
const KEY_BYTES = 32
/** Time that open tabs have to answer, in milliseconds. */
const ASK_MS = 300

export class PageAccess {
  /** Emits when this tab receives another credential. */
  readonly changes = new Signal()
  readonly #browser: Browser
  #credential: StoredCredential | null
  #ready: Promise<void>
  #answered: (() => void) | null = null
  readonly #refused = new Set<string>()

  constructor(browser: Browser) {
    this.#browser = browser
    this.#credential = this.#readStored()
    if (browser.channel !== null) browser.channel.onmessage = (event) => this.#hear(event.data as Message)
    const [, code, rest = ''] = CODE.exec(browser.readHash()) ?? []
    // Remove the code from the address first, even if it is no longer valid.
    if (code !== undefined) browser.replaceHash(`#${rest}`)
    this.#ready = code === undefined ? this.#ask() : this.#redeem(code)
  }

  /** Send a request with the credential. If it is refused, ask the other tabs for a newer one. */
  readonly fetch: Fetch = async (path, init = {}) => {
    await this.#ready
    const sent = this.#credential
    const response = await this.#send(path, init)
    if (response.status !== 401) return response
    if (this.#credential === sent) this.#renew()
    await this.#ready
    return this.#credential === null ? response : this.#send(path, init)
  }

  /** Headers for a request that `fetch` does not send. */
  async getHeaders(): Promise<Readonly<Record<string, string>>> {
    await this.#ready
    return this.#buildHeaders()
  }

  /**
   * Return the header that confirms one command with one body. Call it only after the person
   * confirmed exactly this.
   */
  async confirm(command: string, body: string): Promise<Readonly<Record<string, string>>> {
    const bodySha256 = formatHex(await this.#browser.crypto.subtle.digest('SHA-256', encodeText(body)))
    const response = await this.fetch(CHALLENGE, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ command, bodySha256 }),
    })
    // The command itself is refused as well, with the reason.
    if (!response.ok || this.#credential === null) return {}
    const { challenge } = (await response.json()) as { readonly challenge: string }
    return { [CONFIRMATION]: `${challenge}.${await this.#sign(`${challenge}\n${command}\n${bodySha256}`)}` }
  }

  #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string> | undefined), ...this.#buildHeaders() }
    return this.#browser.fetch(path, { ...init, headers, credentials: 'omit' })
  }

  #buildHeaders(): Readonly<Record<string, string>> {
    return this.#credential === null ? {} : { authorization: `Bearer ${this.#credential.credential}` }
  }

  async #sign(text: string): Promise<string> {
    const { subtle } = this.#browser.crypto
    const raw = Uint8Array.from(atob(this.#credential?.proofKey ?? ''), (character) =>
      character.charCodeAt(0),
    )
    const key = await subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    return formatHex(await subtle.sign('HMAC', key, encodeText(text)))
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
        this.#store({ credential, proofKey })
        this.#browser.channel?.postMessage({ held: { credential, proofKey }, issued: true } satisfies Message)
        return
      }
    } catch {
      // The first request reports that the server is unreachable.
    }
    // This browser may have used the code already, in a tab that was opened twice.
    await this.#ask()
  }

  /** Ask the open tabs for a credential if this tab has none. */
  #ask(): Promise<void> {
    const { channel } = this.#browser
    if (this.#credential !== null || channel === null) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ASK_MS)
      this.#answered = () => {
        clearTimeout(timer)
        resolve()
      }
      channel.postMessage({ ask: true } satisfies Message)
    })
  }

  /** Drop the refused credential, and do not accept it again from another tab. */
  #renew(): void {
    if (this.#credential !== null) this.#refused.add(this.#credential.credential)
    this.#drop()
    this.#ready = this.#ask()
  }

  #hear(message: Message): void {
    if ('ask' in message) {
      if (this.#credential !== null)
        this.#browser.channel?.postMessage({ held: this.#credential, issued: false } satisfies Message)
      return
    }
    const { held, issued } = message
    if (this.#refused.has(held.credential) || (this.#credential !== null && !issued)) return
    this.#store(held)
    this.#answered?.()
    this.changes.emit()
  }

  #store(held: StoredCredential): void {
    this.#credential = held
    try {
      this.#browser.storage?.setItem(NAME, JSON.stringify(held))
    } catch {
      // Storage may be forbidden. The credential then lasts until the page closes.
    }
  }

  #drop(): void {
    this.#credential = null
    try {
      this.#browser.storage?.removeItem(NAME)
    } catch {
      // Storage may be forbidden.
    }
  }

  #readStored(): StoredCredential | null {
    try {
      const stored = this.#browser.storage?.getItem(NAME)
      return stored ? (JSON.parse(stored) as StoredCredential) : null
    } catch {
      return null
    }
  }
}

function encodeText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text)
}

function formatHex(buffer: ArrayBuffer): string {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
