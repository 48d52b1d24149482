import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiProblem } from '../api/problem'
import type { Op } from '../generated/contracts'
import type { Applied } from '../rows/row-store'
import { type Connection, Subscription } from './subscription'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A stream server. Each opening waits until the test answers it. */
class Streams {
  readonly opened: (string | null)[] = []
  readonly connections: Connection[] = []
  readonly applied: string[] = []
  answer: Applied = 'applied'
  refuse: unknown = null
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null

  readonly subscription = new Subscription({
    open: async (cursor, signal) => {
      this.opened.push(cursor)
      if (this.refuse !== null) throw this.refuse
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#controller = controller
          signal.addEventListener('abort', () => this.#fail(controller))
        },
      })
      return new Response(body)
    },
    replace: (ops) => this.#take('snapshot', ops),
    apply: (ops) => this.#take('ops', ops),
    onConnection: (connection) => this.connections.push(connection),
  })

  async send(
    event: string,
    id: string,
    data: unknown = { kind: event, ops: [{ op: 'remove', panel: 'queue', key: id }] },
  ) {
    await this.sendText(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Send a text in pieces of `size` bytes. */
  async sendText(text: string, size = Number.POSITIVE_INFINITY) {
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += size) this.#controller?.enqueue(bytes.slice(at, at + size))
    await vi.advanceTimersByTimeAsync(0)
  }

  async close() {
    this.#controller?.close()
    this.#controller = null
    await vi.advanceTimersByTimeAsync(0)
  }

  #fail(controller: ReadableStreamDefaultController<Uint8Array>) {
    if (controller === this.#controller) this.#controller = null
    try {
      controller.error(new DOMException('aborted', 'AbortError'))
    } catch {
      // The stream is already closed.
    }
  }

  #take(kind: string, ops: readonly Op[]): Applied {
    this.applied.push(`${kind} ${ops.map((op) => (op.op === 'remove' ? op.key : '')).join()}`)
    return this.answer
  }
}

async function startStream(): Promise<Streams> {
  const streams = new Streams()
  streams.subscription.start()
  await vi.advanceTimersByTimeAsync(0)
  return streams
}

test('it starts with a snapshot and continues from its cursor when the stream ends', async () => {
  const streams = await startStream()
  await streams.send('snapshot', '5.0')
  await streams.send('ops', '6.0')
  await streams.close()
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.opened).toEqual([null, '6.0'])
  expect(streams.applied).toEqual(['snapshot 5.0', 'ops 6.0'])
  expect(streams.connections).toEqual(['live', 'stale'])
  await streams.send('ops', '6.1')
  expect(streams.connections.at(-1)).toBe('live')
  streams.subscription.stop()
})

test.each([1, 2, 3, 7])('events are equal when the stream comes in pieces of %i bytes', async (size) => {
  const streams = await startStream()
  const encodeOp = (key: string) => JSON.stringify({ op: 'remove', panel: 'queue', key })
  await streams.sendText(
    [
      ': keep-alive\n\nid: 5.0\nevent: snapshot\ndata: {"kind":"snapshot",\ndata: "ops":[]}\n\n',
      `:\n\nid: 6.0\r\nevent: ops\r\ndata: {"kind":"ops","ops":[${encodeOp('潮\u2028')}]}\r\n\r\n`,
      `event: ops\nid: 7.0\n\nid: 8.0\nevent: ops\ndata: {"kind":"ops","ops":[${encodeOp('b')}]}\n\n`,
      'id: 9.0\nevent: ops\ndata: {"kind":',
    ].join(''),
    size,
  )
  expect(streams.applied).toEqual(['snapshot ', 'ops 潮\u2028', 'ops b'])
  expect(streams.subscription.cursor).toBe('8.0')
  streams.subscription.stop()
})

test('an applied message is not applied again (UI-34)', async () => {
  const streams = await startStream()
  await streams.send('snapshot', '5.3')
  await streams.send('ops', '5.3')
  await streams.send('ops', '5.2')
  await streams.send('ops', '5.4')
  expect(streams.applied).toEqual(['snapshot 5.3', 'ops 5.4'])
  streams.subscription.stop()
})

test('a gap marks the view and fetches a snapshot (UI-30)', async () => {
  const streams = await startStream()
  await streams.send('snapshot', '5.0')
  streams.answer = 'gap'
  await streams.send('ops', '9.0')
  streams.answer = 'applied'
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.connections).toEqual(['live', 'repairing'])
  expect(streams.opened).toEqual([null, null])
  await streams.send('snapshot', '9.4')
  expect(streams.connections.at(-1)).toBe('live')
  streams.subscription.stop()
})

test('a gap that recurs after each repair is retried ever more rarely', async () => {
  const streams = await startStream()
  for (let round = 0; round < 4; round++) {
    streams.answer = 'applied'
    await streams.send('snapshot', '5.0')
    streams.answer = 'gap'
    await streams.send('ops', '9.0')
    await vi.advanceTimersByTimeAsync(0)
    const before = streams.opened.length
    await vi.advanceTimersByTimeAsync(round === 0 ? 0 : 100)
    if (round > 0) expect(streams.opened.length).toBe(before)
    await vi.advanceTimersByTimeAsync(10_000)
  }
  streams.subscription.stop()
})

test('an unservable cursor leads to a snapshot, whether refused or reported in the stream (UI-30)', async () => {
  const streams = await startStream()
  await streams.send('snapshot', '5.0')
  await streams.send('gap', '', { code: 'gap', message: 'too old' })
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.opened).toEqual([null, null])
  expect(streams.connections).toEqual(['live', 'repairing'])
  streams.subscription.stop()
})

test('an unreachable server is retried with growing waits, and immediately on request', async () => {
  const streams = new Streams()
  streams.refuse = new ApiProblem(0, { code: 'unreachable', message: 'down' })
  streams.subscription.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.opened).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(249)
  expect(streams.opened).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(1)
  expect(streams.opened).toHaveLength(3)
  await vi.advanceTimersByTimeAsync(60_000)
  const before = streams.opened.length
  expect(before).toBeLessThan(66)
  streams.subscription.reconnect()
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.opened).toHaveLength(before + 1)
  expect(new Set(streams.connections)).toEqual(new Set(['stale']))
  streams.subscription.stop()
})

test('a stream that is silent longer than the keep-alive is reopened', async () => {
  const streams = await startStream()
  await streams.send('snapshot', '5.0')
  await vi.advanceTimersByTimeAsync(39_000)
  expect(streams.opened).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(streams.opened).toEqual([null, '5.0'])
  streams.subscription.stop()
})

test.each([
  [new ApiProblem(401, { code: 'unauthenticated', message: '' }), 'unauthenticated'],
  [new ApiProblem(404, { code: 'unknown_session', message: '' }), 'gone'],
])('it ends if the stream cannot be served: %s', async (refuse, connection) => {
  const streams = new Streams()
  streams.refuse = refuse
  streams.subscription.start()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(streams.opened).toHaveLength(1)
  expect(streams.connections).toEqual([connection])
})

test('a stopped subscription opens and reports nothing, and continues from its cursor when started', async () => {
  const streams = await startStream()
  await streams.send('snapshot', '5.0')
  streams.subscription.stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(streams.opened).toEqual([null])
  expect(streams.connections).toEqual(['live'])
  streams.subscription.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(streams.opened).toEqual([null, '5.0'])
  streams.subscription.stop()
})
