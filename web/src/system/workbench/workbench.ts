/**
 * The active workspace and session, and their feeds.
 *
 * Each session has its own rows, so a late answer for an inactive session cannot reach the active one.
 */
import type { ApiClient, Meta } from '../api/client'
import { ApiProblem } from '../api/problem'
import { BlobTexts } from '../content/blob-texts'
import { ImageStore } from '../content/image-store'
import type { Decision, RespondAction } from '../generated/contracts'
import type { Drafts } from '../local/drafts'
import { Signal } from '../signal'
import { AttachmentStore } from '../stores/attachment-store'
import { BroadFolderStore } from '../stores/broad-folder-store'
import { EvidenceStore } from '../stores/evidence-store'
import { buildRefusal, NoticeStore, type Refusal } from '../stores/notice-store'
import { Outbox, type SentInput } from '../stores/outbox'
import { Feed } from './feed'
import { type Input, Sender, type SendTarget } from './sender'
import { Session } from './session'
import { Timings } from './timings'

/** Number of inactive sessions that keep their rows. */
const MAX_INACTIVE_SESSIONS = 6

export type Phase = 'starting' | 'ready' | 'unreachable' | 'unauthenticated'

export const NEW_SESSION = 'new'

export class Workbench {
  readonly api: ApiClient
  readonly blobs: BlobTexts
  readonly images: ImageStore
  readonly outbox = new Outbox()
  readonly notices = new NoticeStore()
  readonly broadFolder = new BroadFolderStore()
  readonly changes = new Signal()
  readonly timings = new Timings()
  readonly evidence: EvidenceStore
  readonly attachments: AttachmentStore
  readonly #sender: Sender
  readonly #sessions = new Map<string, Session>()
  #phase: Phase = 'starting'
  #meta: Meta | null = null
  #workspace: { readonly id: string; readonly feed: Feed } | null = null
  #active: Session | null = null
  #startingDemo = false
  #beginning: Promise<void> | null = null
  readonly #answering = new Map<string, Decision>()

  constructor(api: ApiClient, drafts: Drafts) {
    this.api = api
    api.approveFolder = () => this.#approveFolder()
    this.blobs = new BlobTexts((hash, offset, length) =>
      this.timings.measureRead(() => api.readBlob(hash, offset, length)),
    )
    this.images = new ImageStore((hash, offset, length) => api.readBlob(hash, offset, length))
    this.evidence = new EvidenceStore(api)
    this.attachments = new AttachmentStore(api)
    this.#sender = new Sender(api, this.outbox, drafts, this.attachments, this.timings)
  }

  get phase(): Phase {
    return this.#phase
  }

  get meta(): Meta | null {
    return this.#meta
  }

  get workspaceId(): string {
    return this.#workspace?.id ?? ''
  }

  get workspaceFeed(): Feed | null {
    return this.#workspace?.feed ?? null
  }

  get active(): Session | null {
    return this.#active
  }

  /**
   * Read the server metadata and open a workspace: the named one, or the first. Concurrent calls
   * share one request.
   */
  begin(workspaceId: string | null): Promise<void> {
    this.#beginning ??= this.#begin(workspaceId).finally(() => {
      this.#beginning = null
    })
    return this.#beginning
  }

  async #begin(workspaceId: string | null): Promise<void> {
    try {
      this.#meta = await this.api.readMeta()
      const workspaces = this.#meta.workspaces
      const chosen = workspaces.find((workspace) => workspace.workspaceId === workspaceId) ?? workspaces[0]
      // An active session has already opened its workspace.
      if (chosen !== undefined && this.#workspace === null) this.openWorkspace(chosen.workspaceId)
      this.#phase = 'ready'
      for (const feed of [this.#workspace?.feed, this.#active?.feed]) {
        if (feed?.connection === 'unauthenticated') feed.restart()
      }
    } catch (error) {
      const refused = error instanceof ApiProblem && error.status === 401
      this.#phase = refused ? 'unauthenticated' : 'unreachable'
    }
    this.changes.emit()
  }

  /** Reconnect after this tab received a credential. */
  resumeSignedIn(): void {
    if (this.#phase === 'unauthenticated') void this.begin(this.workspaceId || null)
  }

  openWorkspace(id: string): void {
    if (this.#workspace?.id === id) return
    this.#workspace?.feed.stop()
    const feed = new Feed(this.api, `/workspaces/${id}/ops`)
    feed.changes.subscribe(() => this.#watch(feed))
    this.#workspace = { id, feed }
    feed.start()
    this.changes.emit()
  }

  /**
   * Ask the person to approve the active folder, which the server refused as too broad, and open
   * it.
   */
  async #approveFolder(): Promise<boolean> {
    const open = this.#meta?.workspaces.find((workspace) => workspace.workspaceId === this.workspaceId)
    if (open === undefined || !(await this.broadFolder.ask(open.path))) return false
    await this.api.sendConfirmed('open_workspace', { path: open.path, wide: true })
    return true
  }

  /** Show a session, or the first page if the id is null. */
  openSession(id: string | null): void {
    if ((this.#active?.id ?? null) === id) return
    this.#active?.feed.stop()
    this.#active = id === null ? null : this.#getSession(id)
    if (this.#active !== null) {
      this.#measureOpening(this.#active)
      this.#active.feed.start()
      this.#follow(this.#active)
    }
    this.changes.emit()
  }

  /** Start a demo and show it. Its folder is a new workspace. */
  async startDemo(name: string): Promise<void> {
    if (this.#startingDemo) return
    this.#startingDemo = true
    try {
      const { sessionId } = await this.api.send('start_demo', { name })
      this.#meta = await this.api.readMeta()
      this.openSession(sessionId)
    } catch (error) {
      this.notices.add(error)
    } finally {
      this.#startingDemo = false
    }
  }

  /**
   * Read the server metadata again: models and folders may have changed. Keeps the previous ones on
   * failure.
   */
  async refreshMeta(): Promise<void> {
    try {
      this.#meta = await this.api.readMeta()
      this.changes.emit()
    } catch {
      // The connection state already shows that the server is unreachable.
    }
  }

  /** Send input to the active session, or create one and show it unless the person has moved on. */
  send(input: Input): Promise<void> {
    return this.#deliver((place) => this.#sender.send(place, input))
  }

  resend(entry: SentInput): Promise<void> {
    return this.#deliver((place) => this.#sender.resend(entry, place))
  }

  /** The answer to an action that was sent and has no fact yet; null if there is none. */
  getPendingDecision(actionId: string): Decision | null {
    return this.#answering.get(actionId) ?? null
  }

  /**
   * Answer a pending action. It counts as resolved when its row is removed, not when this returns.
   */
  async answer(response: RespondAction): Promise<void> {
    this.#answering.set(response.actionId, response.decision)
    this.changes.emit()
    // An approval with a wider scope creates a rule, which the card showed, and needs a
    // confirmation.
    const wider = response.decision === 'approve' && (response.scope ?? 'once') !== 'once'
    const accepted = await this.attempt(() =>
      wider ? this.api.sendConfirmed('respond_action', response) : this.api.send('respond_action', response),
    )
    if (accepted) return
    this.#answering.delete(response.actionId)
    this.changes.emit()
  }

  /** Run a request and show a notice on failure. Returns whether it succeeded. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.notices.add(error)
      return false
    }
  }

  /** Run a request and return its refusal, or null. */
  async captureRefusal(work: () => Promise<unknown>): Promise<Refusal | null> {
    try {
      await work()
      return null
    } catch (error) {
      return buildRefusal(error)
    }
  }

  /** Drop the rows of a deleted session. */
  forget(sessionId: string): void {
    if (this.#active?.id === sessionId) this.openSession(null)
    this.#sessions.delete(sessionId)
  }

  /** Reconnect all lost connections now. */
  reconnect(): void {
    this.#workspace?.feed.reconnect()
    this.#active?.feed.reconnect()
  }

  #measureOpening(session: Session): void {
    if (session.feed.hydrated) return
    const opened = this.timings.startOpening()
    const stop = session.feed.snapshots.subscribe(() => {
      stop()
      opened()
    })
  }

  async #deliver(send: (place: SendTarget) => Promise<string>): Promise<void> {
    const from = this.#active
    const place = {
      sessionId: from?.id ?? '',
      workspaceId: this.workspaceId,
      draft: from?.id ?? NEW_SESSION,
    }
    try {
      const sessionId = await send(place)
      if (from === null && this.#active === null) this.openSession(sessionId)
      const session = this.#sessions.get(sessionId)
      if (session !== undefined) this.outbox.reconcile(sessionId, session.feed.rows)
    } catch (error) {
      this.notices.add(error)
    }
  }

  #getSession(id: string): Session {
    const existing = this.#sessions.get(id)
    const session =
      existing ?? new Session(this.api, id, this.timings, (ref, text) => this.blobs.store(ref, text))
    if (existing === undefined) {
      session.feed.rows.changes.subscribe(() => this.#follow(session))
      session.feed.changes.subscribe(() => this.#watch(session.feed))
      session.feed.rows.changes.subscribe(() => this.outbox.reconcile(id, session.feed.rows))
      session.feed.rows.changes.subscribe(() => {
        if (session === this.#active) this.timings.recordRows(session.feed.rows)
      })
    }
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    for (const [oldest, other] of this.#sessions) {
      if (this.#sessions.size <= MAX_INACTIVE_SESSIONS) break
      if (other !== this.#active && oldest !== id) this.#sessions.delete(oldest)
    }
    return session
  }

  /** Switch to the workspace of the active session. */
  #follow(session: Session): void {
    const shell = session.feed.rows.getPanel('session').list()[0]
    if (session === this.#active && shell !== undefined) this.openWorkspace(shell.workspaceId)
  }

  #watch(feed: Feed): void {
    if (feed.connection === 'unauthenticated') this.#phase = 'unauthenticated'
    this.changes.emit()
  }
}
