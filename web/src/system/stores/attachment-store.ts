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
  readonly #files = new Map<string, readonly AttachedFile[]>()
  readonly #aborts = new Map<string, AbortController>()

  constructor(api: ApiClient) {
    this.#api = api
  }

  listFiles(draftKey: string): readonly AttachedFile[] {
    return this.#files.get(draftKey) ?? NONE
  }

  /** Attach files and upload them, up to the maximum. */
  add(draftKey: string, files: readonly File[]): void {
    const remaining = Math.max(0, MAX_FILES - this.listFiles(draftKey).length)
    for (const file of files.slice(0, remaining)) void this.#send(draftKey, file)
  }

  /** Remove a file and stop its upload. */
  remove(draftKey: string, id: string): void {
    this.#aborts.get(id)?.abort()
    this.#aborts.delete(id)
    const removed = this.listFiles(draftKey).find((file) => file.id === id)
    if (removed !== undefined) revokePreview(removed)
    this.#set(
      draftKey,
      this.listFiles(draftKey).filter((file) => file.id !== id),
    )
  }

  /** Remove and return the files of a composer, to send them with an input. */
  removeAll(draftKey: string): readonly AttachedFile[] {
    const files = this.listFiles(draftKey)
    this.#set(draftKey, NONE)
    return files
  }

  /** Put the files of a rejected input back. */
  restore(draftKey: string, list: readonly AttachedFile[]): void {
    if (list.length > 0) this.#set(draftKey, [...list, ...this.listFiles(draftKey)])
  }

  async #send(draftKey: string, file: File): Promise<void> {
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
    this.#set(draftKey, [...this.listFiles(draftKey), entry])
    try {
      const onProgress = (share: number) => this.#change(draftKey, id, { share })
      const { upload, size, media } = await this.#api.upload(entry.name, file, onProgress, abort.signal)
      this.#change(draftKey, id, { state: 'ready', share: 1, upload, size, media })
    } catch (error) {
      if (!abort.signal.aborted) this.#change(draftKey, id, { state: 'failed', problem: buildRefusal(error) })
    } finally {
      this.#aborts.delete(id)
    }
  }

  #change(draftKey: string, id: string, change: Partial<AttachedFile>): void {
    this.#set(
      draftKey,
      this.listFiles(draftKey).map((file) => (file.id === id ? { ...file, ...change } : file)),
    )
  }

  #set(draftKey: string, list: readonly AttachedFile[]): void {
    this.#files.set(draftKey, list)
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
