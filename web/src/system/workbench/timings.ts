/**
 * Waiting times of the page, measured and kept in this browser.
 *
 * `status`: from sending to the first row of the turn. `text`: from sending to the first text of the
 * answer. `paint`: from changed rows to the painted screen. `hydration`: from opening a session to the
 * painted screen. `detail`: a read on demand.
 */
import type { RowStore } from '../rows/row-store'
import { Signal } from '../signal'

export const TIMINGS = ['status', 'text', 'paint', 'hydration', 'detail'] as const
export type TimingName = (typeof TIMINGS)[number]

/**
 * Times of one kind in milliseconds. `typical` is the median, `worst` the maximum of the kept
 * samples.
 */
export interface Timing {
  readonly name: TimingName
  readonly count: number
  readonly last: number
  readonly typical: number
  readonly worst: number
}

/** A clock in milliseconds that also records measures for the browser's tools. */
export type Clock = Pick<Performance, 'now' | 'measure' | 'clearMeasures'>
/** Calls back after the next paint; with false if the page is hidden. */
export type AfterPaint = (done: (painted: boolean) => void) => void

const MAX_SAMPLES = 200

export class Timings {
  readonly changes = new Signal()
  readonly #clock: Clock
  readonly #afterPaint: AfterPaint
  readonly #samples = new Map<TimingName, number[]>()
  /** Send times of turns that still lack a status. */
  readonly #status = new Map<string, number>()
  readonly #text = new Map<string, number>()
  #painting = false

  constructor(clock: Clock = performance, afterPaint: AfterPaint = awaitPaint) {
    this.#clock = clock
    this.#afterPaint = afterPaint
  }

  /** All timings that have samples. */
  get all(): readonly Timing[] {
    return TIMINGS.flatMap((name) => {
      const samples = this.#samples.get(name)
      return samples === undefined ? [] : [summarize(name, samples)]
    })
  }

  /** Record that a turn was sent. A queued turn is not timed to its first text. */
  recordSent(turnId: string, starts: boolean): void {
    this.#status.set(turnId, this.#clock.now())
    if (starts) this.#text.set(turnId, this.#clock.now())
  }

  /** Drop a turn that was refused or got no answer. */
  forget(turnId: string): void {
    this.#status.delete(turnId)
    this.#text.delete(turnId)
  }

  /** Record that rows of the active session changed. */
  recordRows(rows: RowStore): void {
    for (const [turnId, since] of this.#status) {
      if (rows.getPanel('turns').get(turnId) === undefined) continue
      this.#status.delete(turnId)
      this.#add('status', since)
    }
    for (const [turnId, since] of this.#text) this.#lookForText(rows, turnId, since)
    if (this.#painting) return
    this.#painting = true
    const since = this.#clock.now()
    this.#afterPaint((painted) => {
      this.#painting = false
      if (painted) this.#add('paint', since)
    })
  }

  /** Record that a session is being opened. Call the returned function when its rows are here. */
  startOpening(): () => void {
    const since = this.#clock.now()
    let over = false
    return () => {
      if (over) return
      over = true
      this.#afterPaint((painted) => {
        if (painted) this.#add('hydration', since)
      })
    }
  }

  /** Time a read on demand. A failed read is not counted. */
  async measureRead<T>(read: () => Promise<T>): Promise<T> {
    const since = this.#clock.now()
    const result = await read()
    this.#add('detail', since)
    return result
  }

  #lookForText(rows: RowStore, turnId: string, since: number): void {
    const parts = rows.getPanel('parts').listTurn(turnId)
    if (parts.some((part) => part.kind === 'assistant_text' && part.content.text !== '')) {
      this.#text.delete(turnId)
      this.#add('text', since)
    } else if ((rows.getPanel('turns').get(turnId)?.endedAt ?? 0) > 0) this.#text.delete(turnId)
  }

  #add(name: TimingName, since: number): void {
    const now = this.#clock.now()
    const mark = `callboard ${name}`
    this.#clock.clearMeasures(mark)
    this.#clock.measure(mark, { start: since, end: now })
    const samples = this.#samples.get(name) ?? []
    samples.push(now - since)
    if (samples.length > MAX_SAMPLES) samples.shift()
    this.#samples.set(name, samples)
    this.changes.emit()
  }
}

function summarize(name: TimingName, samples: readonly number[]): Timing {
  const sorted = samples.toSorted((a, b) => a - b)
  return {
    name,
    count: samples.length,
    last: samples.at(-1) ?? 0,
    typical: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
    worst: sorted.at(-1) ?? 0,
  }
}

/** Run a task after the next frame is painted. A hidden page has no frames. */
function awaitPaint(done: (painted: boolean) => void): void {
  const isVisible = () => globalThis.document?.visibilityState === 'visible'
  if (isVisible()) requestAnimationFrame(() => setTimeout(() => done(isVisible()), 0))
  else done(false)
}
