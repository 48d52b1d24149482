/**
 * A subscription to row operations. It reconnects, continues from its cursor, and repairs gaps with a
 * snapshot.
 *
 * It ends only when it is stopped, its session is gone, or the credential is refused.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { ApiProblem } from '../api/problem'
import type { Op } from '../generated/contracts'
import type { Applied } from '../rows/row-store'
import { compareCursors } from './cursor'

/**
 * `connecting`: no rows yet. `live`: rows are current. `stale`: disconnected, reconnecting.
 * `repairing`: an update was missed, and a snapshot is requested. `gone`: the stream no longer exists.
 */
export type Connection = 'connecting' | 'live' | 'stale' | 'repairing' | 'gone' | 'unauthenticated'

export interface Source {
  /** Open the stream after `cursor`, or with a snapshot if it is null. Raises ApiProblem. */
  readonly open: (cursor: string | null, signal: AbortSignal) => Promise<Response>
  readonly replace: (ops: readonly Op[]) => Applied
  readonly apply: (ops: readonly Op[]) => Applied
  readonly onConnection: (connection: Connection, problem: ApiProblem | null) => void
}

/** The server sends a comment at least every 15 s. A longer silence means a dead connection. */
const SILENCE_MS = 40_000
const FIRST_WAIT_MS = 250
/** Longest wait between attempts. On one machine an attempt costs little. */
const MAX_WAIT_MS = 1_000

type StreamEnd = 'over' | 'retry' | 'repair'

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

  /** Close the stream and keep the cursor. `start` continues from it. */
  stop(): void {
    this.#running?.abort()
    this.#attempt?.abort()
    this.#running = null
  }

  /** Reconnect now instead of waiting: the machine is online again, or the person asked. */
  reconnect(): void {
    this.#wake?.()
  }

  async #run(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      const ended = await this.#runAttempt(stopped)
      if (stopped.aborted || ended === 'over') return
      const wait = this.#failures === 0 ? 0 : FIRST_WAIT_MS * 2 ** Math.min(this.#failures - 1, 6)
      this.#failures++
      if (wait > 0) await this.#wait(Math.min(wait, MAX_WAIT_MS), stopped)
    }
  }

  async #runAttempt(stopped: AbortSignal): Promise<StreamEnd> {
    const attempt = new AbortController()
    this.#attempt = attempt
    try {
      const response = await this.#source.open(this.#cursor, attempt.signal)
      const ended = await this.#read(response, attempt)
      if (!stopped.aborted && ended === 'retry') this.#setConnection('stale')
      return ended
    } catch (error) {
      return stopped.aborted ? 'over' : this.#handleFailure(error)
    } finally {
      attempt.abort()
    }
  }

  async #read(response: Response, attempt: AbortController): Promise<StreamEnd> {
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
          const ended = this.#applyEvent(event)
          if (ended !== null) return ended
        }
      }
    } finally {
      clearTimeout(silence)
      reader.cancel().catch(() => {})
    }
  }

  #applyEvent(event: EventSourceMessage): StreamEnd | null {
    if (event.event === 'problem' || event.event === 'gap') throw new ApiProblem(0, JSON.parse(event.data))
    if (event.event !== 'snapshot' && event.event !== 'ops') return null
    const batch = JSON.parse(event.data) as { kind: 'snapshot' | 'ops'; ops: readonly Op[] }
    const snapshot = batch.kind === 'snapshot'
    // Skip operations that were already applied.
    if (!snapshot && event.id !== undefined && compareCursors(event.id, this.#cursor) <= 0) return null
    const applied = snapshot ? this.#source.replace(batch.ops) : this.#source.apply(batch.ops)
    if (applied === 'gap') {
      this.#cursor = null
      this.#setConnection('repairing')
      return 'repair'
    }
    this.#cursor = event.id ?? this.#cursor
    // A snapshot alone proves no repair: the same gap may follow immediately, and then a wait is due.
    if (!snapshot || this.#connection !== 'repairing') this.#failures = 0
    this.#setConnection('live')
    return null
  }

  #handleFailure(error: unknown): StreamEnd {
    const problem = error instanceof ApiProblem ? error : null
    switch (problem?.code) {
      case 'unauthenticated':
        this.#setConnection('unauthenticated', problem)
        return 'over'
      case 'unknown_session':
      case 'unknown_workspace':
        this.#setConnection('gone', problem)
        return 'over'
      case 'gap':
        this.#cursor = null
        this.#setConnection('repairing', problem)
        return 'repair'
      default:
        this.#setConnection('stale', problem)
        return 'retry'
    }
  }

  #setConnection(connection: Connection, problem: ApiProblem | null = null): void {
    if (connection === this.#connection && problem === null) return
    this.#connection = connection
    this.#source.onConnection(connection, problem)
  }

  #wait(ms: number, stopped: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        stopped.removeEventListener('abort', finish)
        this.#wake = null
        resolve()
      }
      const timer = setTimeout(finish, ms)
      stopped.addEventListener('abort', finish)
      this.#wake = finish
    })
  }
}
