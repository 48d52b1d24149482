/**
 * Images that were asked for, as addresses of this page. What they are is read from their first bytes: only formats that hold
 * no script become an image, whatever a name or a header says.
 */
import type { BlobRef } from '../generated/contracts'
import { Signal } from '../signal'

export interface Picture {
  readonly state: 'loading' | 'ready' | 'failed' | 'unsupported'
  /** An address for `src`; empty unless it is ready. */
  readonly address: string
}

export type ReadBytes = (hash: string, offset: number, length: number) => Promise<Uint8Array>
/** Makes an address for bytes, and lets one go. */
export interface Addresses {
  readonly make: (bytes: Uint8Array, media: string) => string
  readonly drop: (address: string) => void
}

/** Larger images are downloaded, not shown, in bytes. */
const LARGEST = 32 * 1024 * 1024
/** How many images are kept. */
const KEPT = 48

const SIGNATURES: readonly (readonly [media: string, starts: readonly number[], offset: number])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47], 0],
  ['image/jpeg', [0xff, 0xd8, 0xff], 0],
  ['image/gif', [0x47, 0x49, 0x46, 0x38], 0],
  ['image/webp', [0x57, 0x45, 0x42, 0x50], 8],
  ['image/bmp', [0x42, 0x4d], 0],
]

/** What kind of image these bytes are; null where they are none that can be shown. */
export function mediaOf(bytes: Uint8Array): string | null {
  const found = SIGNATURES.find(([, starts, offset]) =>
    starts.every((byte, index) => bytes[offset + index] === byte),
  )
  return found?.[0] ?? null
}

const NONE: Addresses = { make: () => '', drop: () => {} }

/** The browser's own addresses; none where it has none. */
export function browserAddresses(): Addresses {
  if (typeof URL.createObjectURL !== 'function') return NONE
  return {
    make: (bytes, media) => URL.createObjectURL(new Blob([bytes as BlobPart], { type: media })),
    drop: (address) => URL.revokeObjectURL(address),
  }
}

export class Pictures {
  readonly changes = new Signal()
  readonly #read: ReadBytes
  readonly #addresses: Addresses
  readonly #known = new Map<string, Picture>()

  constructor(read: ReadBytes, addresses: Addresses = browserAddresses()) {
    this.#read = read
    this.#addresses = addresses
  }

  get(hash: string): Picture | undefined {
    return this.#known.get(hash)
  }

  /** Read an image. While it is on its way, and once it is there, this does nothing. */
  async load({ hash, size }: BlobRef): Promise<void> {
    const state = this.#known.get(hash)?.state
    if (state !== undefined && state !== 'failed') return
    if (size > LARGEST) return this.#put(hash, { state: 'unsupported', address: '' })
    this.#put(hash, { state: 'loading', address: '' })
    try {
      const bytes = await this.#read(hash, 0, Math.max(1, size))
      const media = mediaOf(bytes)
      if (media === null) return this.#put(hash, { state: 'unsupported', address: '' })
      this.#put(hash, { state: 'ready', address: this.#addresses.make(bytes, media) })
    } catch {
      this.#put(hash, { state: 'failed', address: '' })
    }
  }

  #put(hash: string, picture: Picture): void {
    this.#known.delete(hash)
    this.#known.set(hash, picture)
    const oldest = this.#known.keys().next().value
    if (this.#known.size > KEPT && oldest !== undefined) {
      const gone = this.#known.get(oldest)?.address ?? ''
      if (gone !== '') this.#addresses.drop(gone)
      this.#known.delete(oldest)
    }
    this.changes.emit()
  }
}
