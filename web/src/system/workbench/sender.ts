/** Sending input: the text is on the screen at once, and is given back where it was refused. */
import type { ApiClient } from '../api/client'
import { ApiProblem } from '../api/problem'
import type { Mode, PermissionMode } from '../generated/contracts'
import { newId } from '../ids'
import type { Drafts } from '../local/drafts'
import type { How, Outbox, Sent } from './outbox'
import type { Timings } from './timings'

export interface Input {
  readonly text: string
  readonly how: How
  readonly mode: Mode
  readonly permissionMode: PermissionMode
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
  readonly #timings: Timings

  constructor(api: ApiClient, outbox: Outbox, drafts: Drafts, timings: Timings) {
    this.#api = api
    this.#outbox = outbox
    this.#drafts = drafts
    this.#timings = timings
  }

  /** Send what was typed. Gives the session that took it. Raises ApiProblem after the draft was given back. */
  async send(place: Place, input: Input): Promise<string> {
    const entry: Sent = {
      ...input,
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
      }
      throw error
    }
  }

  async #command(entry: Sent, place: Place): Promise<string> {
    const { sessionId, text, mode, permissionMode } = entry
    if (entry.how === 'steer') {
      const taken = await this.#api.command('steer_turn', { sessionId, text, steerId: entry.id }, entry.key)
      return taken.sessionId
    }
    const where = sessionId === '' ? { workspaceId: place.workspaceId } : { sessionId }
    // Where nothing runs as far as the page knows, a thread that is busy after all refuses: no choice is made silently.
    const whenBusy = entry.how === 'start' ? 'refuse' : entry.how
    const body = { ...where, text, mode, permissionMode, turnId: entry.id, whenBusy } as const
    const accepted = await this.#api.command('submit_turn', body, entry.key)
    return accepted.sessionId
  }
}
