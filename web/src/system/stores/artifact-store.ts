/**
 * Artifact drafts, and versions and diffs that were read. A draft stays in this browser until its
 * version is saved. The state of an artifact is in its row, not here.
 */
import type { ApiClient } from '../api/client'
import type { ArtifactDiff, ArtifactRetried } from '../generated/contracts'
import type { LocalValues } from '../local/local-values'
import type { ArtifactRow } from '../rows/model'
import { readVersions, type Version } from '../rows/nested-entries'
import { Signal } from '../signal'
import { buildRefusal, type Refusal } from './notice-store'

/** An edited text and its base version. */
export interface ArtifactDraft {
  readonly text: string
  readonly base: number
}

/** The draft of a new artifact: a file in the folder, or a text in the session. */
export interface NewArtifact {
  readonly place: 'file' | 'session'
  readonly path: string
  readonly title: string
  readonly text: string
}

const EMPTY_DRAFT: NewArtifact = { place: 'file', path: '', title: '', text: '' }

export type DiffRead =
  | { readonly state: 'loading' | 'failed' }
  | { readonly state: 'read'; readonly diff: ArtifactDiff }

export class ArtifactStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  readonly #values: LocalValues
  readonly #drafts = new Map<string, ArtifactDraft | null>()
  readonly #newDrafts = new Map<string, NewArtifact>()
  readonly #versions = new Map<string, readonly Version[]>()
  readonly #diffs = new Map<string, DiffRead>()
  readonly #saving = new Set<string>()
  readonly #refusals = new Map<string, Refusal>()

  constructor(api: ApiClient, values: LocalValues) {
    this.#api = api
    this.#values = values
  }

  getDraft(artifactId: string): ArtifactDraft | null {
    const cached = this.#drafts.get(artifactId)
    if (cached !== undefined) return cached
    const stored = parseDraft(this.#values.read(`artifact.${artifactId}`))
    this.#drafts.set(artifactId, stored)
    return stored
  }

  write(artifactId: string, draft: ArtifactDraft | null): void {
    this.#drafts.set(artifactId, draft)
    this.#values.write(`artifact.${artifactId}`, draft === null ? null : JSON.stringify(draft))
    this.#refusals.delete(artifactId)
    this.changes.emit()
  }

  /** The draft of a new artifact in a session. */
  getNewDraft(sessionId: string): NewArtifact {
    const draft =
      this.#newDrafts.get(sessionId) ?? parseNewDraft(this.#values.read(`artifact.new.${sessionId}`))
    this.#newDrafts.set(sessionId, draft)
    return draft
  }

  writeNewDraft(sessionId: string, draft: NewArtifact | null): void {
    this.#newDrafts.set(sessionId, draft ?? EMPTY_DRAFT)
    this.#values.write(`artifact.new.${sessionId}`, draft === null ? null : JSON.stringify(draft))
    this.changes.emit()
  }

  /**
   * Create an artifact and return its id. Without text, an existing file is added unchanged. Raises
   * ApiProblem.
   */
  async create(sessionId: string, { place, path, title, text }: NewArtifact): Promise<string> {
    const target = place === 'file' ? { path } : { title }
    const content = place === 'file' && text === '' ? null : text
    return (await this.#api.send('create_artifact', { sessionId, ...target, content })).artifactId
  }

  isSaving(artifactId: string): boolean {
    return this.#saving.has(artifactId)
  }

  /** The refusal of the last command for this artifact; null if it was accepted. */
  getRefusal(artifactId: string): Refusal | null {
    return this.#refusals.get(artifactId) ?? null
  }

  /**
   * Save the draft. It is deleted only if its version was saved and the draft has not changed
   * since.
   */
  async save(sessionId: string, artifactId: string): Promise<boolean> {
    const draft = this.getDraft(artifactId)
    if (draft === null || this.#saving.has(artifactId)) return false
    const body = { sessionId, artifactId, baseVersion: draft.base, content: draft.text }
    const saved = await this.#run(artifactId, () => this.#api.send('edit_artifact', body))
    if (saved && this.getDraft(artifactId) === draft) this.write(artifactId, null)
    return saved
  }

  rollback(sessionId: string, artifactId: string, version: number, baseVersion: number): Promise<boolean> {
    const body = { sessionId, artifactId, version, baseVersion }
    return this.#run(artifactId, () => this.#api.send('rollback_artifact', body))
  }

  retry(sessionId: string, artifactId: string, baseVersion: number): Promise<boolean> {
    const body = { sessionId, artifactId, baseVersion }
    return this.#run(artifactId, () => this.#api.send('retry_artifact', body))
  }

  /** All versions; null until `readVersions` has read them. */
  getVersions(artifactId: string): readonly Version[] | null {
    return this.#versions.get(artifactId) ?? null
  }

  /** Raises ApiProblem. */
  async readVersions(sessionId: string, { artifactId }: ArtifactRow): Promise<void> {
    const read = await this.#api.query('get_artifact', { sessionId, artifactId })
    this.#versions.set(artifactId, readVersions(read.versions))
    this.changes.emit()
  }

  getDiff(artifactId: string, from: number, to: number): DiffRead | null {
    return this.#diffs.get(`${artifactId} ${from} ${to}`) ?? null
  }

  /** Read the diff of two versions, once: versions never change. */
  async readDiff(
    sessionId: string,
    artifactId: string,
    fromVersion: number,
    toVersion: number,
  ): Promise<void> {
    const key = `${artifactId} ${fromVersion} ${toVersion}`
    const state = this.#diffs.get(key)?.state
    if (state === 'loading' || state === 'read') return
    this.#setDiff(key, { state: 'loading' })
    try {
      const parameters = { sessionId, artifactId, fromVersion, toVersion }
      this.#setDiff(key, { state: 'read', diff: await this.#api.query('get_artifact_diff', parameters) })
    } catch {
      this.#setDiff(key, { state: 'failed' })
    }
  }

  #setDiff(key: string, diff: DiffRead): void {
    this.#diffs.set(key, diff)
    this.changes.emit()
  }

  async #run(artifactId: string, work: () => Promise<Pick<ArtifactRetried, 'status'>>): Promise<boolean> {
    if (this.#saving.has(artifactId)) return false
    this.#saving.add(artifactId)
    this.#refusals.delete(artifactId)
    this.changes.emit()
    try {
      const { status } = await work()
      return status === 'saved'
    } catch (error) {
      this.#refusals.set(artifactId, buildRefusal(error))
      return false
    } finally {
      this.#saving.delete(artifactId)
      this.changes.emit()
    }
  }
}

function parseNewDraft(text: string | null): NewArtifact {
  if (text === null) return EMPTY_DRAFT
  try {
    const value = JSON.parse(text) as Partial<NewArtifact>
    const readField = (field: 'path' | 'title' | 'text') =>
      typeof value[field] === 'string' ? value[field] : ''
    return {
      place: value.place === 'session' ? 'session' : 'file',
      path: readField('path'),
      title: readField('title'),
      text: readField('text'),
    }
  } catch {
    return EMPTY_DRAFT
  }
}

function parseDraft(text: string | null): ArtifactDraft | null {
  if (text === null) return null
  try {
    const value = JSON.parse(text) as Partial<ArtifactDraft>
    return typeof value.text === 'string' && typeof value.base === 'number'
      ? { text: value.text, base: value.base }
      : null
  } catch {
    return null
  }
}
