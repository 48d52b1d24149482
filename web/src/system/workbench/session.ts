/** A session: its feed, and older turns that are read on demand. */
import type { ApiClient } from '../api/client'
import type { TurnRow } from '../rows/model'
import { findFirstBegun } from '../rows/model'
import type { OnOffloaded } from '../rows/row-store'
import { Signal } from '../signal'
import { Feed } from './feed'
import type { Timings } from './timings'

/** Number of turns in a snapshot. A session with fewer turns has no older ones. */
export const SNAPSHOT_TURNS = 20
const PAGE_TURNS = 20
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

  /** Whether all turns of the session were read. */
  get reachedStart(): boolean {
    return this.#reachedStart
  }

  /**
   * Read a page of older turns. It may include queued turns, which are shown in the queue; the next page
   * continues before them. Raises ApiProblem.
   */
  async loadOlder(): Promise<void> {
    const first = findFirstBegun(this.feed.rows.getPanel('turns').list())
    if (first === undefined || this.#loadingOlder || this.#reachedStart) return
    this.#loadingOlder = true
    this.changes.emit()
    try {
      const before = Math.min(first.order, this.#readBefore)
      const read = await this.#api.query('get_turns', { sessionId: this.id, before, limit: PAGE_TURNS })
      this.#reachedStart = read.turns.length < PAGE_TURNS
      this.#readBefore = Math.min(before, ...read.turns.map((turn) => turn.order))
      this.feed.rows.merge('turns', read.turns)
    } finally {
      this.#loadingOlder = false
      this.changes.emit()
    }
  }

  /** Whether the parts of a turn were read or streamed. */
  hasParts(turn: TurnRow): boolean {
    return this.#read.has(turn.turnId) || this.feed.rows.getPanel('parts').listTurn(turn.turnId).length > 0
  }

  /** Read the parts of a turn. Raises ApiProblem; the caller may retry. */
  async loadParts(turnId: string): Promise<void> {
    if (this.#read.has(turnId) || this.#reading.has(turnId)) return
    this.#reading.add(turnId)
    try {
      const parameters = { sessionId: this.id, turnId }
      const read = await this.#timings.measureRead(() => this.#api.query('get_parts', parameters))
      this.#read.add(turnId)
      this.feed.rows.merge('parts', read.parts)
    } finally {
      this.#reading.delete(turnId)
    }
  }

  /**
   * Complete the first turn of a snapshot, which may lack its earliest parts. Its steps show that: the
   * first is the model call, the second its first part.
   */
  #completeFirstTurn(): void {
    this.#readBefore = Number.POSITIVE_INFINITY
    this.#reachedStart = false
    const first = this.feed.rows.getPanel('parts').list()[0]
    if (first === undefined || first.turnId === '' || getStep(first.order) <= FIRST_PART) return
    // On failure, the next snapshot tries again. Until then the turn shows the parts that it has.
    this.loadParts(first.turnId).catch(() => {})
  }
}

/** The step of a part: the lower 20 bits of its order. */
function getStep(order: number): number {
  return order % 2 ** 20
}
