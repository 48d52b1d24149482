/** Large texts, read on demand. A hash always names the same bytes, so a text is read once. */
import type { BlobRef } from '../generated/contracts'
import { Signal } from '../signal'

export interface BlobText {
  readonly text: string
  readonly state: 'loading' | 'part' | 'whole' | 'failed'
}

export type ReadBlob = (hash: string, offset: number, length: number) => Promise<Uint8Array>

/** Bytes per request. */
const STEP = 256 * 1024
/** Maximum number of texts in memory. */
const MAX_TEXTS = 64

interface Entry {
  text: BlobText
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
    return this.#entries.get(hash)?.text
  }

  /** Store a streamed text if its size equals the size of the blob. */
  store(ref: BlobRef, text: string): void {
    if (this.#entries.has(ref.hash)) return
    if (new TextEncoder().encode(text).length !== ref.size) return
    this.#put(ref.hash, { text: { text, state: 'whole' }, bytes: ref.size, decoder: new TextDecoder() })
  }

  /** Read the next piece. Does nothing while a piece is loading and after the last piece. */
  async load(ref: BlobRef): Promise<void> {
    const entry = this.#entries.get(ref.hash) ?? {
      text: { text: '', state: 'part' },
      bytes: 0,
      decoder: new TextDecoder(),
    }
    if (entry.text.state === 'loading' || entry.text.state === 'whole') return
    const before = entry.text.text
    entry.text = { text: before, state: 'loading' }
    this.#put(ref.hash, entry)
    try {
      const piece = await this.#read(ref.hash, entry.bytes, STEP)
      entry.bytes += piece.length
      const whole = entry.bytes >= ref.size || piece.length === 0
      const text = before + entry.decoder.decode(piece, { stream: !whole })
      entry.text = { text, state: whole ? 'whole' : 'part' }
    } catch {
      entry.text = { text: before, state: 'failed' }
    }
    this.#put(ref.hash, entry)
  }

  #put(hash: string, entry: Entry): void {
    this.#entries.delete(hash)
    this.#entries.set(hash, entry)
    const oldest = this.#entries.keys().next().value
    if (this.#entries.size > MAX_TEXTS && oldest !== undefined) this.#entries.delete(oldest)
    this.changes.emit()
  }
}
