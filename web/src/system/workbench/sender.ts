/** Sending input: the text is on the screen at once, and is given back where it was refused. */
import type { ApiClient } from '../api/client'
import { ApiProblem } from '../api/problem'
import type { Attachment, Mode, PermissionMode } from '../generated/contracts'
import { newId } from '../ids'
import type { Drafts } from '../local/drafts'
import type { Attached, AttachmentStore } from '../stores/attachment-store'
import type { How, Outbox, Sent } from '../stores/outbox'
import type { Timings } from './timings'

export interface Input {
  readonly text: string
  readonly how: How
  readonly mode: Mode
  readonly permissionMode: PermissionMode
  /** False leaves the permission mode to the server. */
  readonly chosen: boolean
}

export interface Place {
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

  /** Send what was typed. Gives the session that took it. Raises ApiProblem after the draft was given back. */
  async send(place: Place, input: Input): Promise<string> {
    const entry: Sent = {
      ...input,
      attached: this.#attachments.take(place.draft),
      id: newId(input.how === 'steer' ? 'str' : 'trn'),
      sessionId: place.sessionId,
      state: 'sending',
      key: newId('key'),
    }
    this.#outbox.add(entry)
    if (input.how !== 'steer') this.#timings.sent(entry.id, input.how !== 'queue')
    this.#drafts.set(place.draft, '')
    return this.#give(entry, place)
  }

  /** Send an entry again whose answer was lost. With the same key and id it cannot become a second turn. */
  async again(entry: Sent, place: Place): Promise<string> {
    this.#outbox.change(entry.id, { state: 'sending' })
    return this.#give(entry, place)
  }

  async #give(entry: Sent, place: Place): Promise<string> {
    try {
      const sessionId = await this.#command(entry, place)
      this.#outbox.change(entry.id, { state: 'accepted', sessionId })
      return sessionId
    } catch (error) {
      this.#timings.forget(entry.id)
      if (error instanceof ApiProblem && error.unanswered) {
        this.#outbox.change(entry.id, { state: 'unconfirmed' })
      } else {
        this.#outbox.drop(entry.id)
        this.#drafts.giveBack(place.draft, entry.text)
        this.#attachments.giveBack(place.draft, entry.attached)
      }
      throw error
    }
  }

  async #command(entry: Sent, place: Place): Promise<string> {
    const { sessionId, text, mode, permissionMode, chosen } = entry
    const attachments = named(entry.attached)
    if (entry.how === 'steer') {
      const steer = { sessionId, text, steerId: entry.id, ...attachments }
      const taken = await this.#api.command('steer_turn', steer, entry.key)
      return taken.sessionId
    }
    const where = sessionId === '' ? { workspaceId: place.workspaceId } : { sessionId }
    // Where nothing runs as far as the page knows, a thread that is busy after all refuses: no choice is made silently.
    const whenBusy = entry.how === 'start' ? 'refuse' : entry.how
    const how = { mode, ...(chosen && { permissionMode }), whenBusy, turnId: entry.id } as const
    const body = { ...where, ...how, ...attachments, text }
    const accepted = await this.#api.command('submit_turn', body, entry.key)
    return accepted.sessionId
  }
}

/** What goes with an input, as the server knows it. */
function named(attached: readonly Attached[]): { readonly attachments?: readonly Attachment[] } {
  if (attached.length === 0) return {}
  return { attachments: attached.map(({ upload, name }) => ({ upload, name })) }
}
