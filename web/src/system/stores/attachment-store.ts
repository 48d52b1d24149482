/**
 * The files that a person put to what they are typing, by place: being sent, there, or refused. They are no facts; an input
 * that is sent names those that are there.
 */
import type { ApiClient } from '../api/client'
import { newId } from '../ids'
import { Signal } from '../signal'
import { type Refusal, toRefusal } from './notice-store'

export interface Attached {
  readonly id: string
  readonly name: string
  /** In bytes. */
  readonly size: number
  readonly state: 'sending' | 'ready' | 'failed'
  /** The share that was sent, from 0 to 1. */
  readonly share: number
  /** What the server calls it; empty until it is there. */
  readonly upload: string
  readonly problem: Refusal | null
  /** What its bytes are, by the server; empty until it is there. */
  readonly media: string
  /** An address of an image in this page, for a look at it; empty where it is none. */
  readonly preview: string
}

/** The most files that one input takes. */
export const MOST_FILES = 20
/** Formats that a browser draws and that hold no script. */
const DRAWN: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

export class AttachmentStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  readonly #places = new Map<string, readonly Attached[]>()
  readonly #aborts = new Map<string, AbortController>()

  constructor(api: ApiClient) {
    this.#api = api
  }

  of(place: string): readonly Attached[] {
    return this.#places.get(place) ?? NONE
  }

  /** Put files to a place and send them, as many as one input takes. */
  add(place: string, files: readonly File[]): void {
    const room = Math.max(0, MOST_FILES - this.of(place).length)
    for (const file of files.slice(0, room)) void this.#send(place, file)
  }

  /** Take one away; what is still being sent of it is stopped. */
  remove(place: string, id: string): void {
    this.#aborts.get(id)?.abort()
    this.#aborts.delete(id)
    const gone = this.of(place).find((file) => file.id === id)
    if (gone !== undefined) drop(gone)
    this.#set(
      place,
      this.of(place).filter((file) => file.id !== id),
    )
  }

  /** What is there goes with an input; the place is empty then. */
  take(place: string): readonly Attached[] {
    const taken = this.of(place)
    this.#set(place, NONE)
    return taken
  }

  /** Give back what went with an input that was not taken. */
  giveBack(place: string, list: readonly Attached[]): void {
    if (list.length > 0) this.#set(place, [...list, ...this.of(place)])
  }

  async #send(place: string, file: File): Promise<void> {
    const id = newId('att')
    const abort = new AbortController()
    this.#aborts.set(id, abort)
    const entry: Attached = {
      id,
      name: file.name || 'pasted',
      size: file.size,
      state: 'sending',
      share: 0,
      upload: '',
      problem: null,
      media: '',
      preview: previewOf(file),
    }
    this.#set(place, [...this.of(place), entry])
    try {
      const onProgress = (share: number) => this.#change(place, id, { share })
      const { upload, size, media } = await this.#api.upload(entry.name, file, onProgress, abort.signal)
      this.#change(place, id, { state: 'ready', share: 1, upload, size, media })
    } catch (error) {
      if (!abort.signal.aborted) this.#change(place, id, { state: 'failed', problem: toRefusal(error) })
    } finally {
      this.#aborts.delete(id)
    }
  }

  #change(place: string, id: string, change: Partial<Attached>): void {
    this.#set(
      place,
      this.of(place).map((file) => (file.id === id ? { ...file, ...change } : file)),
    )
  }

  #set(place: string, list: readonly Attached[]): void {
    this.#places.set(place, list)
    this.changes.emit()
  }
}

const NONE: readonly Attached[] = []

function previewOf(file: File): string {
  if (!DRAWN.has(file.type) || typeof URL.createObjectURL !== 'function') return ''
  return URL.createObjectURL(file)
}

function drop({ preview }: Attached): void {
  if (preview !== '') URL.revokeObjectURL(preview)
}
