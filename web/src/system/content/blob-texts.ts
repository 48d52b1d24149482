/** Large texts that were asked for. A hash always names the same bytes, so what was read once is kept. */
import type { BlobRef } from '../generated/contracts'
import { Signal } from '../signal'

export interface BlobText {
  readonly text: string
  readonly state: 'loading' | 'part' | 'whole' | 'failed'
}

export type ReadBlob = (hash: string, offset: number, length: number) => Promise<Uint8Array>

/** How much one request asks for, in bytes. */
const STEP = 256 * 1024
/** How many texts are kept. */
const KEPT = 64

interface Entry {
  shown: BlobText
  bytes: number
  decoder: TextDecoder
}

export class BlobTexts {
  readonly #read: ReadBlob
  readonly #entries = new Map<string, Entry>()
  readonly changes = new Signal()

  constructor(read: ReadBlob) {
    this.#read = read
  }

  get(hash: string): BlobText | undefined {
    return this.#entries.get(hash)?.shown
  }

  /** Keep a text that was streamed, where its size says that it is all that the blob holds. */
  offer(ref: BlobRef, text: string): void {
    if (this.#entries.has(ref.hash)) return
    if (new TextEncoder().encode(text).length !== ref.size) return
    this.#put(ref.hash, { shown: { text, state: 'whole' }, bytes: ref.size, decoder: new TextDecoder() })
  }

  /** Read the next piece. While a piece is on its way, and after the last, this does nothing. */
  async load(ref: BlobRef): Promise<void> {
    const entry = this.#entries.get(ref.hash) ?? {
      shown: { text: '', state: 'part' },
      bytes: 0,
      decoder: new TextDecoder(),
    }
    if (entry.shown.state === 'loading' || entry.shown.state === 'whole') return
    const before = entry.shown.text
    entry.shown = { text: before, state: 'loading' }
    this.#put(ref.hash, entry)
    try {
      const piece = await this.#read(ref.hash, entry.bytes, STEP)
      entry.bytes += piece.length
      const whole = entry.bytes >= ref.size || piece.length === 0
      const text = before + entry.decoder.decode(piece, { stream: !whole })
      entry.shown = { text, state: whole ? 'whole' : 'part' }
    } catch {
      entry.shown = { text: before, state: 'failed' }
    }
    this.#put(ref.hash, entry)
  }

  #put(hash: string, entry: Entry): void {
    this.#entries.delete(hash)
    this.#entries.set(hash, entry)
    const oldest = this.#entries.keys().next().value
    if (this.#entries.size > KEPT && oldest !== undefined) this.#entries.delete(oldest)
    this.changes.emit()
  }
}
