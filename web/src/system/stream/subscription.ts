/**
 * One subscription to row operations: it stays connected, continues from its cursor, and repairs from a snapshot.
 *
 * A subscription ends only when it is stopped, when its session is gone or when the server no longer knows the viewer.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { ApiProblem } from '../api/problem'
import type { Op } from '../generated/contracts'
import type { Applied } from '../rows/row-store'
import { compareCursors } from './cursor'

/**
 * `connecting`: nothing was shown yet. `live`: what is shown is current. `stale`: the connection is lost and being
 * sought. `repairing`: something was missed, and a snapshot is on its way. `gone`: there is no such stream any more.
 */
export type Connection = 'connecting' | 'live' | 'stale' | 'repairing' | 'gone' | 'unauthenticated'

export interface Source {
  /** Open the stream after `cursor`, or with a snapshot where it is null. Raises ApiProblem. */
  readonly open: (cursor: string | null, signal: AbortSignal) => Promise<Response>
  readonly replace: (ops: readonly Op[]) => Applied
  readonly apply: (ops: readonly Op[]) => Applied
  readonly onConnection: (connection: Connection, problem: ApiProblem | null) => void
}

/** The server sends a comment at least every 15 s; a stream that is silent for longer than this is dead. */
const SILENCE_MS = 40_000
const FIRST_WAIT_MS = 250
/** A server that comes back is found within a second; on one's own machine asking costs nothing. */
const LONGEST_WAIT_MS = 1_000

type Ended = 'over' | 'retry' | 'repair'

export class Subscription {
  readonly #source: Source
  #cursor: string | null
  #connection: Connection = 'connecting'
  #running: AbortController | null = null
  #attempt: AbortController | null = null
  #failures = 0
  #wake: (() => void) | null = null

  constructor(source: Source, cursor: string | null = null) {
    this.#source = source
    this.#cursor = cursor
  }

  get cursor(): string | null {
    return this.#cursor
  }

  start(): void {
    if (this.#running !== null) return
    const running = new AbortController()
    this.#running = running
    void this.#run(running.signal)
  }

  /** Close the stream and keep the cursor; `start` goes on from there. */
  stop(): void {
    this.#running?.abort()
    this.#attempt?.abort()
    this.#running = null
  }

  /** Try at once instead of waiting: the machine is online again, or a person asked. */
  nudge(): void {
    this.#wake?.()
  }

  async #run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const ended = await this.#attemptOnce(stopped)
      if (stopped.aborted || ended === 'over') return
      const wait = this.#failures === 0 ? 0 : FIRST_WAIT_MS * 2 ** Math.min(this.#failures - 1, 6)
      this.#failures++
      if (wait > 0) await this.#pause(Math.min(wait, LONGEST_WAIT_MS), stopped)
    }
  }

  async #attemptOnce(stopped: AbortSignal): Promise<Ended> {
    const attempt = new AbortController()
    this.#attempt = attempt
    try {
      const response = await this.#source.open(this.#cursor, attempt.signal)
      const ended = await this.#read(response, attempt)
      if (!stopped.aborted && ended === 'retry') this.#set('stale')
      return ended
    } catch (error) {
      return stopped.aborted ? 'over' : this.#failed(error)
    } finally {
      attempt.abort()
    }
  }

  async #read(response: Response, attempt: AbortController): Promise<Ended> {
    const body = response.body
    if (body === null) return 'retry'
    const events: EventSourceMessage[] = []
    const parser = createParser({ onEvent: (event) => events.push(event) })
    const decoder = new TextDecoder()
    const reader = body.getReader()
    let silence = setTimeout(() => attempt.abort(), SILENCE_MS)
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (attempt.signal.aborted || done) return 'retry'
        clearTimeout(silence)
        silence = setTimeout(() => attempt.abort(), SILENCE_MS)
        parser.feed(decoder.decode(value, { stream: true }))
        for (const event of events.splice(0)) {
          const ended = this.#take(event)
          if (ended !== null) return ended
        }
      }
    } finally {
      clearTimeout(silence)
      reader.cancel().catch(() => {})
    }
  }

  #take(event: EventSourceMessage): Ended | null {
    if (event.event === 'problem' || event.event === 'gap') throw new ApiProblem(0, JSON.parse(event.data))
    if (event.event !== 'snapshot' && event.event !== 'ops') return null
    const batch = JSON.parse(event.data) as { kind: 'snapshot' | 'ops'; ops: readonly Op[] }
    const snapshot = batch.kind === 'snapshot'
    // A repeat of what was applied changes nothing.
    if (!snapshot && event.id !== undefined && compareCursors(event.id, this.#cursor) <= 0) return null
    const applied = snapshot ? this.#source.replace(batch.ops) : this.#source.apply(batch.ops)
    if (applied === 'gap') {
      this.#cursor = null
      this.#set('repairing')
      return 'repair'
    }
    this.#cursor = event.id ?? this.#cursor
    // A snapshot alone does not prove a repair: what made the gap may come again at once, and then waiting is due.
    if (!snapshot || this.#connection !== 'repairing') this.#failures = 0
    this.#set('live')
    return null
  }

  #failed(error: unknown): Ended {
    const problem = error instanceof ApiProblem ? error : null
    switch (problem?.code) {
      case 'unauthenticated':
        this.#set('unauthenticated', problem)
        return 'over'
      case 'unknown_session':
      case 'unknown_workspace':
        this.#set('gone', problem)
        return 'over'
      case 'gap':
        this.#cursor = null
        this.#set('repairing', problem)
        return 'repair'
      default:
        this.#set('stale', problem)
        return 'retry'
    }
  }

  #set(connection: Connection, problem: ApiProblem | null = null): void {
    if (connection === this.#connection && problem === null) return
    this.#connection = connection
    this.#source.onConnection(connection, problem)
  }

  #pause(ms: number, stopped: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        stopped.removeEventListener('abort', done)
        this.#wake = null
        resolve()
      }
      const timer = setTimeout(done, ms)
      stopped.addEventListener('abort', done)
      this.#wake = done
    })
  }
}
