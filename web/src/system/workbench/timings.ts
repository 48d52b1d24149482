/**
 * How long the page lets a person wait, measured here and kept here: figures about the page, never facts and never sent.
 *
 * `status`: from sending to the first row that tells of it. `text`: from sending to the first text of the answer. `paint`: from
 * rows that came to the screen that shows them. `hydration`: from opening a session to the screen that shows it. `detail`: a
 * read of something that is loaded on demand.
 */
import type { RowStore } from '../rows/row-store'
import { Signal } from '../signal'

export const TIMINGS = ['status', 'text', 'paint', 'hydration', 'detail'] as const
export type TimingName = (typeof TIMINGS)[number]

/** Figures of one kind in milliseconds; `typical` is the median and `worst` the largest of those that are kept. */
export interface Timing {
  readonly name: TimingName
  readonly count: number
  readonly last: number
  readonly typical: number
  readonly worst: number
}

/** What tells the time in milliseconds, and takes measures for the browser's own tools. */
export type Clock = Pick<Performance, 'now' | 'measure' | 'clearMeasures'>
/** Calls back once what is on the page now was painted, or with false where nobody could see it. */
export type AfterPaint = (done: (painted: boolean) => void) => void

const KEPT = 200

export class Timings {
  readonly changes = new Signal()
  readonly #clock: Clock
  readonly #afterPaint: AfterPaint
  readonly #samples = new Map<TimingName, number[]>()
  /** When each turn was sent whose status or text is still to come. */
  readonly #status = new Map<string, number>()
  readonly #text = new Map<string, number>()
  #painting = false

  constructor(clock: Clock = performance, afterPaint: AfterPaint = nextPaint) {
    this.#clock = clock
    this.#afterPaint = afterPaint
  }

  /** What was measured so far; a kind without a figure is not there. */
  get all(): readonly Timing[] {
    return TIMINGS.flatMap((name) => {
      const samples = this.#samples.get(name)
      return samples === undefined ? [] : [summary(name, samples)]
    })
  }

  /** A turn is on its way. One that waits in a queue is not expected to answer soon. */
  sent(turnId: string, starts: boolean): void {
    this.#status.set(turnId, this.#clock.now())
    if (starts) this.#text.set(turnId, this.#clock.now())
  }

  /** A turn was refused, or nothing was heard of it. */
  forget(turnId: string): void {
    this.#status.delete(turnId)
    this.#text.delete(turnId)
  }

  /** Rows of the session on the screen have changed. */
  rowsChanged(rows: RowStore): void {
    for (const [turnId, since] of this.#status) {
      if (rows.panel('turns').get(turnId) === undefined) continue
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

  /** A session is being opened. Gives what to call once its rows are here. */
  opening(): () => void {
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

  /** A read of something that is loaded on demand. One that fails is no figure. */
  async reading<T>(read: () => Promise<T>): Promise<T> {
    const since = this.#clock.now()
    const got = await read()
    this.#add('detail', since)
    return got
  }

  #lookForText(rows: RowStore, turnId: string, since: number): void {
    const parts = rows.panel('parts').ofTurn(turnId)
    if (parts.some((part) => part.kind === 'assistant_text' && part.content.text !== '')) {
      this.#text.delete(turnId)
      this.#add('text', since)
    } else if ((rows.panel('turns').get(turnId)?.endedAt ?? 0) > 0) this.#text.delete(turnId)
  }

  #add(name: TimingName, since: number): void {
    const now = this.#clock.now()
    const mark = `callboard ${name}`
    this.#clock.clearMeasures(mark)
    this.#clock.measure(mark, { start: since, end: now })
    const samples = this.#samples.get(name) ?? []
    samples.push(now - since)
    if (samples.length > KEPT) samples.shift()
    this.#samples.set(name, samples)
    this.changes.emit()
  }
}

function summary(name: TimingName, samples: readonly number[]): Timing {
  const sorted = samples.toSorted((a, b) => a - b)
  return {
    name,
    count: samples.length,
    last: samples.at(-1) ?? 0,
    typical: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
    worst: sorted.at(-1) ?? 0,
  }
}

/** A task after the next frame: the frame itself is painted before it. A hidden page has no frames. */
function nextPaint(done: (painted: boolean) => void): void {
  const seen = () => globalThis.document?.visibilityState === 'visible'
  if (seen()) requestAnimationFrame(() => setTimeout(() => done(seen()), 0))
  else done(false)
}
