/**
 * The page without its surface: which workspace and session are on the screen, and the feeds behind them.
 *
 * Every session keeps its own rows, so what comes late for one that is no longer active cannot reach the active one.
 */
import type { ApiClient, Meta } from '../api/client'
import { ApiProblem } from '../api/problem'
import { BlobTexts } from '../content/blob-texts'
import { Pictures } from '../content/pictures'
import type { Decision, RespondAction } from '../generated/contracts'
import type { Drafts } from '../local/drafts'
import { Signal } from '../signal'
import { AttachmentStore } from '../stores/attachment-store'
import { BroadFolderStore } from '../stores/broad-folder-store'
import { EvidenceStore } from '../stores/evidence-store'
import { NoticeStore, type Refusal, toRefusal } from '../stores/notice-store'
import { Outbox, type Sent } from '../stores/outbox'
import { Feed } from './feed'
import { type Input, type Place, Sender } from './sender'
import { Session } from './session'
import { Timings } from './timings'

/** How many sessions keep their rows after they left the screen. */
const KEPT_SESSIONS = 6

export type Phase = 'starting' | 'ready' | 'unreachable' | 'unauthenticated'

export const NEW_SESSION = 'new'

export class Workbench {
  readonly api: ApiClient
  readonly blobs: BlobTexts
  readonly pictures: Pictures
  readonly outbox = new Outbox()
  readonly notices = new NoticeStore()
  readonly broad = new BroadFolderStore()
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
      this.timings.reading(() => api.blob(hash, offset, length)),
    )
    this.pictures = new Pictures((hash, offset, length) => api.blob(hash, offset, length))
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

  /** Ask the server what it is, and open a workspace: the one named, or the first. While it is being asked this asks once. */
  begin(workspaceId: string | null): Promise<void> {
    this.#beginning ??= this.#begin(workspaceId).finally(() => {
      this.#beginning = null
    })
    return this.#beginning
  }

  async #begin(workspaceId: string | null): Promise<void> {
    try {
      this.#meta = await this.api.meta()
      const known = this.#meta.workspaces
      const chosen = known.find((workspace) => workspace.workspaceId === workspaceId) ?? known[0]
      // A session that is on the screen has brought its own.
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

  /** Go on where the page was signed out: another tab got a credential, and gave it to this one. */
  signedIn(): void {
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

  /** Open the folder on the screen with a person's approval: the server refused it as too broad. */
  async #approveFolder(): Promise<boolean> {
    const open = this.#meta?.workspaces.find((workspace) => workspace.workspaceId === this.workspaceId)
    if (open === undefined || !(await this.broad.ask(open.path))) return false
    await this.api.confirmed('open_workspace', { path: open.path, wide: true })
    return true
  }

  /** Put a session on the screen, or the first page where the id is null. */
  openSession(id: string | null): void {
    if ((this.#active?.id ?? null) === id) return
    this.#active?.feed.stop()
    this.#active = id === null ? null : this.#session(id)
    if (this.#active !== null) {
      this.#measureOpening(this.#active)
      this.#active.feed.start()
      this.#follow(this.#active)
    }
    this.changes.emit()
  }

  /** Play a demo, and put it on the screen; its folder is a workspace that the server did not have before. */
  async startDemo(name: string): Promise<void> {
    if (this.#startingDemo) return
    this.#startingDemo = true
    try {
      const { sessionId } = await this.api.command('start_demo', { name })
      this.#meta = await this.api.meta()
      this.openSession(sessionId)
    } catch (error) {
      this.notices.add(error)
    } finally {
      this.#startingDemo = false
    }
  }

  /** Ask the server again what it is: models and folders may be others by now. What cannot be asked stays as it was. */
  async refreshMeta(): Promise<void> {
    try {
      this.#meta = await this.api.meta()
      this.changes.emit()
    } catch {
      // The connection tells that it is lost by itself.
    }
  }

  /** Send input to the active session, or make one. The address moves on only where the person did not. */
  send(input: Input): Promise<void> {
    return this.#deliver((place) => this.#sender.send(place, input))
  }

  sendAgain(entry: Sent): Promise<void> {
    return this.#deliver((place) => this.#sender.again(entry, place))
  }

  /** The answer that was given to an action and that no fact shows yet; null where none was. */
  answering(actionId: string): Decision | null {
    return this.#answering.get(actionId) ?? null
  }

  /** Answer a pending action. It reads resolved when its row goes, not when this returns. */
  async answer(response: RespondAction): Promise<void> {
    this.#answering.set(response.actionId, response.decision)
    this.changes.emit()
    // An answer that allows more than this one call is a rule: the card showed what it covers.
    const wider = response.decision === 'approve' && (response.scope ?? 'once') !== 'once'
    const given = await this.attempt(() =>
      wider ? this.api.confirmed('respond_action', response) : this.api.command('respond_action', response),
    )
    if (given) return
    this.#answering.delete(response.actionId)
    this.changes.emit()
  }

  /** Run something a person asked for; what goes wrong is told. Gives whether it went well. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.notices.add(error)
      return false
    }
  }

  /** Run something whose refusal is told where it was asked for; null where it went well. */
  async refusal(work: () => Promise<unknown>): Promise<Refusal | null> {
    try {
      await work()
      return null
    } catch (error) {
      return toRefusal(error)
    }
  }

  /** Let the rows of a session go: it was deleted. */
  forget(sessionId: string): void {
    if (this.#active?.id === sessionId) this.openSession(null)
    this.#sessions.delete(sessionId)
  }

  /** Try every lost connection at once. */
  nudge(): void {
    this.#workspace?.feed.nudge()
    this.#active?.feed.nudge()
  }

  #measureOpening(session: Session): void {
    if (session.feed.hydrated) return
    const opened = this.timings.opening()
    const stop = session.feed.snapshots.subscribe(() => {
      stop()
      opened()
    })
  }

  async #deliver(send: (place: Place) => Promise<string>): Promise<void> {
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

  #session(id: string): Session {
    const known = this.#sessions.get(id)
    const session =
      known ?? new Session(this.api, id, this.timings, (ref, text) => this.blobs.offer(ref, text))
    if (known === undefined) {
      session.feed.rows.changes.subscribe(() => this.#follow(session))
      session.feed.changes.subscribe(() => this.#watch(session.feed))
      session.feed.rows.changes.subscribe(() => this.outbox.reconcile(id, session.feed.rows))
      session.feed.rows.changes.subscribe(() => {
        if (session === this.#active) this.timings.rowsChanged(session.feed.rows)
      })
    }
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    for (const [oldest, other] of this.#sessions) {
      if (this.#sessions.size <= KEPT_SESSIONS) break
      if (other !== this.#active && oldest !== id) this.#sessions.delete(oldest)
    }
    return session
  }

  /** The folder on the screen is the one of the session on the screen. */
  #follow(session: Session): void {
    const shell = session.feed.rows.panel('session').all()[0]
    if (session === this.#active && shell !== undefined) this.openWorkspace(shell.workspaceId)
  }

  #watch(feed: Feed): void {
    if (feed.connection === 'unauthenticated') this.#phase = 'unauthenticated'
    this.changes.emit()
  }
}
