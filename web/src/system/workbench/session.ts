/** One session on the screen: its feed, and the older history that is read on demand. */
import type { ApiClient } from '../api/client'
import type { TurnRow } from '../rows/model'
import { firstBegun } from '../rows/model'
import type { OnOffloaded } from '../rows/row-store'
import { Signal } from '../signal'
import { Feed } from './feed'
import type { Timings } from './timings'

/** How many turns a snapshot holds; a session that shows fewer has no others. */
export const WINDOW = 20
const PAGE = 20
const FIRST_PART = 2

export class Session {
  readonly id: string
  readonly feed: Feed
  readonly changes = new Signal()
  readonly #api: ApiClient
  readonly #timings: Timings
  readonly #read = new Set<string>()
  readonly #reading = new Set<string>()
  #readBefore = Number.POSITIVE_INFINITY
  #loadingOlder = false
  #reachedStart = false

  constructor(api: ApiClient, id: string, timings: Timings, onOffloaded?: OnOffloaded) {
    this.#api = api
    this.#timings = timings
    this.id = id
    this.feed = new Feed(api, `/sessions/${id}/ops`, onOffloaded)
    this.feed.snapshots.subscribe(() => this.#completeFirstTurn())
  }

  get loadingOlder(): boolean {
    return this.#loadingOlder
  }

  /** Whether every turn of the session was read. */
  get reachedStart(): boolean {
    return this.#reachedStart
  }

  /**
   * Read the turns before the oldest that is here. Turns that wait may be among them: they are in the queue already, and
   * the next read goes on before them. Raises ApiProblem.
   */
  async loadOlder(): Promise<void> {
    const first = firstBegun(this.feed.rows.panel('turns').all())
    if (first === undefined || this.#loadingOlder || this.#reachedStart) return
    this.#loadingOlder = true
    this.changes.emit()
    try {
      const before = Math.min(first.order, this.#readBefore)
      const read = await this.#api.query('get_turns', { sessionId: this.id, before, limit: PAGE })
      this.#reachedStart = read.turns.length < PAGE
      this.#readBefore = Math.min(before, ...read.turns.map((turn) => turn.order))
      this.feed.rows.merge('turns', read.turns)
    } finally {
      this.#loadingOlder = false
      this.changes.emit()
    }
  }

  /** Whether the parts of this turn are here, as far as the page can know. */
  hasParts(turn: TurnRow): boolean {
    return this.#read.has(turn.turnId) || this.feed.rows.panel('parts').ofTurn(turn.turnId).length > 0
  }

  /** Read the parts of a turn that came without them. Raises ApiProblem; then it may be asked for again. */
  async loadParts(turnId: string): Promise<void> {
    if (this.#read.has(turnId) || this.#reading.has(turnId)) return
    this.#reading.add(turnId)
    try {
      const asked = { sessionId: this.id, turnId }
      const read = await this.#timings.reading(() => this.#api.query('get_parts', asked))
      this.#read.add(turnId)
      this.feed.rows.merge('parts', read.parts)
    } finally {
      this.#reading.delete(turnId)
    }
  }

  /**
   * A snapshot holds the newest parts that fit, so the first turn that has any may lack its earliest. Steps say so: the
   * first is the model call, the second its first part.
   */
  #completeFirstTurn(): void {
    this.#readBefore = Number.POSITIVE_INFINITY
    this.#reachedStart = false
    const first = this.feed.rows.panel('parts').all()[0]
    if (first === undefined || first.turnId === '' || stepOf(first.order) <= FIRST_PART) return
    // What fails here is asked for again with the next snapshot; the turn shows what it has meanwhile.
    this.loadParts(first.turnId).catch(() => {})
  }
}

/** The order of a part is its run's start and its step, which has the lower 20 bits. */
function stepOf(order: number): number {
  return order % 2 ** 20
}
