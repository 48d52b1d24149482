/**
 * Files attached to drafts, by composer: uploading, ready or failed. They are not facts; an input
 * names the files that are ready.
 */
import type { ApiClient } from '../api/client'
import { createId } from '../ids'
import { Signal } from '../signal'
import { buildRefusal, type Refusal } from './notice-store'

export interface AttachedFile {
  readonly id: string
  readonly name: string
  /** In bytes. */
  readonly size: number
  readonly state: 'sending' | 'ready' | 'failed'
  /** The uploaded share, from 0 to 1. */
  readonly share: number
  /** The server's id of the upload; empty until it is ready. */
  readonly upload: string
  readonly problem: Refusal | null
  /** The media type that the server detected; empty until the upload is ready. */
  readonly media: string
  /** An object URL for a preview; empty if the file is not an image. */
  readonly preview: string
}

/** Maximum number of files per input. */
export const MAX_FILES = 20
/** Image formats that browsers show and that cannot hold a script. */
const PREVIEW_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

export class AttachmentStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  readonly #places = new Map<string, readonly AttachedFile[]>()
  readonly #aborts = new Map<string, AbortController>()

  constructor(api: ApiClient) {
    this.#api = api
  }

  listFiles(place: string): readonly AttachedFile[] {
    return this.#places.get(place) ?? NONE
  }

  /** Attach files and upload them, up to the maximum. */
  add(place: string, files: readonly File[]): void {
    const remaining = Math.max(0, MAX_FILES - this.listFiles(place).length)
    for (const file of files.slice(0, remaining)) void this.#send(place, file)
  }

  /** Remove a file and stop its upload. */
  remove(place: string, id: string): void {
    this.#aborts.get(id)?.abort()
    this.#aborts.delete(id)
    const removed = this.listFiles(place).find((file) => file.id === id)
    if (removed !== undefined) revokePreview(removed)
    this.#set(
      place,
      this.listFiles(place).filter((file) => file.id !== id),
    )
  }

  /** Remove and return the files of a composer, to send them with an input. */
  removeAll(place: string): readonly AttachedFile[] {
    const files = this.listFiles(place)
    this.#set(place, NONE)
    return files
  }

  /** Put the files of a rejected input back. */
  restore(place: string, list: readonly AttachedFile[]): void {
    if (list.length > 0) this.#set(place, [...list, ...this.listFiles(place)])
  }

  async #send(place: string, file: File): Promise<void> {
    const id = createId('att')
    const abort = new AbortController()
    this.#aborts.set(id, abort)
    const entry: AttachedFile = {
      id,
      name: file.name || 'pasted',
      size: file.size,
      state: 'sending',
      share: 0,
      upload: '',
      problem: null,
      media: '',
      preview: createPreview(file),
    }
    this.#set(place, [...this.listFiles(place), entry])
    try {
      const onProgress = (share: number) => this.#change(place, id, { share })
      const { upload, size, media } = await this.#api.upload(entry.name, file, onProgress, abort.signal)
      this.#change(place, id, { state: 'ready', share: 1, upload, size, media })
    } catch (error) {
      if (!abort.signal.aborted) this.#change(place, id, { state: 'failed', problem: buildRefusal(error) })
    } finally {
      this.#aborts.delete(id)
    }
  }

  #change(place: string, id: string, change: Partial<AttachedFile>): void {
    this.#set(
      place,
      this.listFiles(place).map((file) => (file.id === id ? { ...file, ...change } : file)),
    )
  }

  #set(place: string, list: readonly AttachedFile[]): void {
    this.#places.set(place, list)
    this.changes.emit()
  }
}

const NONE: readonly AttachedFile[] = []

function createPreview(file: File): string {
  if (!PREVIEW_TYPES.has(file.type) || typeof URL.createObjectURL !== 'function') return ''
  return URL.createObjectURL(file)
}

function revokePreview({ preview }: AttachedFile): void {
  if (preview !== '') URL.revokeObjectURL(preview)
}
