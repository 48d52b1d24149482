/**
 * Images, read on demand, as object URLs. Their first bytes decide the format: only formats that
 * cannot hold a script are shown, regardless of the name or a header.
 */
import type { BlobRef } from '../generated/contracts'
import { Signal } from '../signal'

export interface StoredImage {
  readonly state: 'loading' | 'ready' | 'failed' | 'unsupported'
  /** A URL for `src`; empty unless the image is ready. */
  readonly address: string
}

export type ReadBytes = (hash: string, offset: number, length: number) => Promise<Uint8Array>
/** Creates and revokes object URLs. */
export interface Addresses {
  readonly create: (bytes: Uint8Array, media: string) => string
  readonly drop: (address: string) => void
}

/** Maximum size of an image that is shown, in bytes. */
const MAX_IMAGE_BYTES = 32 * 1024 * 1024
/** Maximum number of images in memory. */
const MAX_IMAGES = 48

const SIGNATURES: readonly (readonly [media: string, starts: readonly number[], offset: number])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47], 0],
  ['image/jpeg', [0xff, 0xd8, 0xff], 0],
  ['image/gif', [0x47, 0x49, 0x46, 0x38], 0],
  ['image/webp', [0x57, 0x45, 0x42, 0x50], 8],
  ['image/bmp', [0x42, 0x4d], 0],
]

/** Detect the media type of an image. Null if the format is not supported. */
export function detectMedia(bytes: Uint8Array): string | null {
  const signature = SIGNATURES.find(([, starts, offset]) =>
    starts.every((byte, index) => bytes[offset + index] === byte),
  )
  return signature?.[0] ?? null
}

const NONE: Addresses = { create: () => '', drop: () => {} }

/** Object URLs of this browser. Creates none if the browser has no support. */
export function getBrowserAddresses(): Addresses {
  if (typeof URL.createObjectURL !== 'function') return NONE
  return {
    create: (bytes, media) => URL.createObjectURL(new Blob([bytes as BlobPart], { type: media })),
    drop: (address) => URL.revokeObjectURL(address),
  }
}

export class ImageStore {
  readonly changes = new Signal()
  readonly #read: ReadBytes
  readonly #addresses: Addresses
  readonly #images = new Map<string, StoredImage>()

  constructor(read: ReadBytes, addresses: Addresses = getBrowserAddresses()) {
    this.#read = read
    this.#addresses = addresses
  }

  get(hash: string): StoredImage | undefined {
    return this.#images.get(hash)
  }

  /** Read an image. Does nothing while it is loading and once it is ready. */
  async load({ hash, size }: BlobRef): Promise<void> {
    const state = this.#images.get(hash)?.state
    if (state !== undefined && state !== 'failed') return
    if (size > MAX_IMAGE_BYTES) return this.#put(hash, { state: 'unsupported', address: '' })
    this.#put(hash, { state: 'loading', address: '' })
    try {
      const bytes = await this.#read(hash, 0, Math.max(1, size))
      const media = detectMedia(bytes)
      if (media === null) return this.#put(hash, { state: 'unsupported', address: '' })
      this.#put(hash, { state: 'ready', address: this.#addresses.create(bytes, media) })
    } catch {
      this.#put(hash, { state: 'failed', address: '' })
    }
  }

  #put(hash: string, image: StoredImage): void {
    this.#images.delete(hash)
    this.#images.set(hash, image)
    const oldest = this.#images.keys().next().value
    if (this.#images.size > MAX_IMAGES && oldest !== undefined) {
      const address = this.#images.get(oldest)?.address ?? ''
      if (address !== '') this.#addresses.drop(address)
      this.#images.delete(oldest)
    }
    this.changes.emit()
  }
}
