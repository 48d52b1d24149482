/** Sends input. The text is shown immediately, and returns to the draft if it is refused. */
import type { ApiClient } from '../api/client'
import { ApiProblem } from '../api/problem'
import type { Attachment, Mode, PermissionMode } from '../generated/contracts'
import { createId } from '../ids'
import type { Drafts } from '../local/drafts'
import type { AttachedFile, AttachmentStore } from '../stores/attachment-store'
import type { Outbox, SendMode, SentInput } from '../stores/outbox'
import type { Timings } from './timings'

export interface Input {
  readonly text: string
  readonly sendMode: SendMode
  readonly mode: Mode
  readonly permissionMode: PermissionMode
  /** False if the server chooses the permission mode. */
  readonly chosen: boolean
}

export interface SendTarget {
  readonly sessionId: string
  readonly workspaceId: string
  readonly draft: string
}

export class Sender {
  readonly #api: ApiClient
  readonly #outbox: Outbox
  readonly #drafts: Drafts
  readonly #attachments: AttachmentStore
  readonly #timings: Timings

  constructor(
    api: ApiClient,
    outbox: Outbox,
    drafts: Drafts,
    attachments: AttachmentStore,
    timings: Timings,
  ) {
    this.#api = api
    this.#outbox = outbox
    this.#drafts = drafts
    this.#attachments = attachments
    this.#timings = timings
  }

  /** Send an input and return its session id. Raises ApiProblem after the draft is restored. */
  async send(destination: SendTarget, input: Input): Promise<string> {
    const entry: SentInput = {
      ...input,
      attached: this.#attachments.removeAll(destination.draft),
      id: createId(input.sendMode === 'steer' ? 'str' : 'trn'),
      sessionId: destination.sessionId,
      state: 'sending',
      key: createId('key'),
    }
    this.#outbox.add(entry)
    if (input.sendMode !== 'steer') this.#timings.recordSent(entry.id, input.sendMode !== 'queue')
    this.#drafts.set(destination.draft, '')
    return this.#deliver(entry, destination)
  }

  /** Resend an entry whose answer was lost. The same key and id prevent a second turn. */
  async resend(entry: SentInput, destination: SendTarget): Promise<string> {
    this.#outbox.change(entry.id, { state: 'sending' })
    return this.#deliver(entry, destination)
  }

  async #deliver(entry: SentInput, destination: SendTarget): Promise<string> {
    try {
      const sessionId = await this.#sendCommand(entry, destination)
      this.#outbox.change(entry.id, { state: 'accepted', sessionId })
      return sessionId
    } catch (error) {
      this.#timings.forget(entry.id)
      if (error instanceof ApiProblem && error.isUnanswered) {
        this.#outbox.change(entry.id, { state: 'unconfirmed' })
      } else {
        this.#outbox.drop(entry.id)
        this.#drafts.restore(destination.draft, entry.text)
        this.#attachments.restore(destination.draft, entry.attached)
      }
      throw error
    }
  }

  async #sendCommand(entry: SentInput, destination: SendTarget): Promise<string> {
    const { sessionId, text, mode, permissionMode, chosen } = entry
    const attachments = buildAttachmentFields(entry.attached)
    if (entry.sendMode === 'steer') {
      const steer = { sessionId, text, steerId: entry.id, ...attachments }
      const accepted = await this.#api.send('steer_turn', steer, entry.key)
      return accepted.sessionId
    }
    const target = sessionId === '' ? { workspaceId: destination.workspaceId } : { sessionId }
    // If the page sees no running turn but the thread is busy, the server refuses instead of
    // choosing for the person.
    const whenBusy = entry.sendMode === 'start' ? 'refuse' : entry.sendMode
    const settings = { mode, ...(chosen && { permissionMode }), whenBusy, turnId: entry.id } as const
    const body = { ...target, ...settings, ...attachments, text }
    const accepted = await this.#api.send('submit_turn', body, entry.key)
    return accepted.sessionId
  }
}

/** The attachments of an input in wire form. */
function buildAttachmentFields(attached: readonly AttachedFile[]): {
  readonly attachments?: readonly Attachment[]
} {
  if (attached.length === 0) return {}
  return { attachments: attached.map(({ upload, name }) => ({ upload, name })) }
}
