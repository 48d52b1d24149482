/**
 * What a person does with artifacts: the texts that they are writing, and what was read of versions and differences. A text
 * that is being written stays in this browser until its version is there; nothing here says how an artifact stands.
 */
import type { ApiClient } from '../api/client'
import type { ArtifactChanged, ArtifactDiff } from '../generated/contracts'
import type { LocalValues } from '../local/local-values'
import type { ArtifactRow } from '../rows/model'
import { asVersions, type Version } from '../rows/nested-entries'
import { Signal } from '../signal'
import { type Refusal, toRefusal } from './notice-store'

/** A text in the making, and the version that it was made from. */
export interface ArtifactDraft {
  readonly text: string
  readonly base: number
}

/** An artifact in the making: a file of the folder, or a text that only the session has. */
export interface NewArtifact {
  readonly place: 'file' | 'session'
  readonly path: string
  readonly title: string
  readonly text: string
}

const NOTHING: NewArtifact = { place: 'file', path: '', title: '', text: '' }

export type DiffRead =
  | { readonly state: 'loading' | 'failed' }
  | { readonly state: 'read'; readonly diff: ArtifactDiff }

export class ArtifactStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  readonly #values: LocalValues
  readonly #drafts = new Map<string, ArtifactDraft | null>()
  readonly #news = new Map<string, NewArtifact>()
  readonly #versions = new Map<string, readonly Version[]>()
  readonly #diffs = new Map<string, DiffRead>()
  readonly #saving = new Set<string>()
  readonly #refused = new Map<string, Refusal>()

  constructor(api: ApiClient, values: LocalValues) {
    this.#api = api
    this.#values = values
  }

  draft(artifactId: string): ArtifactDraft | null {
    const known = this.#drafts.get(artifactId)
    if (known !== undefined) return known
    const kept = parse(this.#values.read(`artifact.${artifactId}`))
    this.#drafts.set(artifactId, kept)
    return kept
  }

  write(artifactId: string, draft: ArtifactDraft | null): void {
    this.#drafts.set(artifactId, draft)
    this.#values.write(`artifact.${artifactId}`, draft === null ? null : JSON.stringify(draft))
    this.#refused.delete(artifactId)
    this.changes.emit()
  }

  /** What a person began to make in a session. */
  newArtifact(sessionId: string): NewArtifact {
    const known = this.#news.get(sessionId) ?? parseNew(this.#values.read(`artifact.new.${sessionId}`))
    this.#news.set(sessionId, known)
    return known
  }

  writeNew(sessionId: string, draft: NewArtifact | null): void {
    this.#news.set(sessionId, draft ?? NOTHING)
    this.#values.write(`artifact.new.${sessionId}`, draft === null ? null : JSON.stringify(draft))
    this.changes.emit()
  }

  /** Make an artifact; gives its id. Without a text a file that is there is taken in as it is. Raises ApiProblem. */
  async create(sessionId: string, { place, path, title, text }: NewArtifact): Promise<string> {
    const named = place === 'file' ? { path } : { title }
    const content = place === 'file' && text === '' ? null : text
    return (await this.#api.command('create_artifact', { sessionId, ...named, content })).artifactId
  }

  saving(artifactId: string): boolean {
    return this.#saving.has(artifactId)
  }

  /** What was said of the last command about this artifact; null where it was taken. */
  refused(artifactId: string): Refusal | null {
    return this.#refused.get(artifactId) ?? null
  }

  /** Save the text in the making. It is let go only when its version is there and nothing was written since. */
  async save(sessionId: string, artifactId: string): Promise<boolean> {
    const draft = this.draft(artifactId)
    if (draft === null || this.#saving.has(artifactId)) return false
    const body = { sessionId, artifactId, baseVersion: draft.base, content: draft.text }
    const saved = await this.#run(artifactId, () => this.#api.command('edit_artifact', body))
    if (saved && this.draft(artifactId) === draft) this.write(artifactId, null)
    return saved
  }

  rollback(sessionId: string, artifactId: string, version: number, baseVersion: number): Promise<boolean> {
    const body = { sessionId, artifactId, version, baseVersion }
    return this.#run(artifactId, () => this.#api.command('rollback_artifact', body))
  }

  retry(sessionId: string, artifactId: string, baseVersion: number): Promise<boolean> {
    const body = { sessionId, artifactId, baseVersion }
    return this.#run(artifactId, () => this.#api.command('retry_artifact', body))
  }

  /** Every version that was read; null until `readVersions` was asked. */
  versions(artifactId: string): readonly Version[] | null {
    return this.#versions.get(artifactId) ?? null
  }

  /** Raises ApiProblem. */
  async readVersions(sessionId: string, { artifactId }: ArtifactRow): Promise<void> {
    const read = await this.#api.query('get_artifact', { sessionId, artifactId })
    this.#versions.set(artifactId, asVersions(read.versions))
    this.changes.emit()
  }

  diff(artifactId: string, from: number, to: number): DiffRead | null {
    return this.#diffs.get(`${artifactId} ${from} ${to}`) ?? null
  }

  /** Versions never change, so what was read once is kept. */
  async readDiff(
    sessionId: string,
    artifactId: string,
    fromVersion: number,
    toVersion: number,
  ): Promise<void> {
    const key = `${artifactId} ${fromVersion} ${toVersion}`
    const known = this.#diffs.get(key)?.state
    if (known === 'loading' || known === 'read') return
    this.#setDiff(key, { state: 'loading' })
    try {
      const asked = { sessionId, artifactId, fromVersion, toVersion }
      this.#setDiff(key, { state: 'read', diff: await this.#api.query('get_artifact_diff', asked) })
    } catch {
      this.#setDiff(key, { state: 'failed' })
    }
  }

  #setDiff(key: string, diff: DiffRead): void {
    this.#diffs.set(key, diff)
    this.changes.emit()
  }

  async #run(artifactId: string, work: () => Promise<ArtifactChanged>): Promise<boolean> {
    if (this.#saving.has(artifactId)) return false
    this.#saving.add(artifactId)
    this.#refused.delete(artifactId)
    this.changes.emit()
    try {
      const { status } = await work()
      return status === 'saved'
    } catch (error) {
      this.#refused.set(artifactId, toRefusal(error))
      return false
    } finally {
      this.#saving.delete(artifactId)
      this.changes.emit()
    }
  }
}

function parseNew(text: string | null): NewArtifact {
  if (text === null) return NOTHING
  try {
    const value = JSON.parse(text) as Partial<NewArtifact>
    const told = (field: 'path' | 'title' | 'text') => (typeof value[field] === 'string' ? value[field] : '')
    return {
      place: value.place === 'session' ? 'session' : 'file',
      path: told('path'),
      title: told('title'),
      text: told('text'),
    }
  } catch {
    return NOTHING
  }
}

function parse(text: string | null): ArtifactDraft | null {
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
