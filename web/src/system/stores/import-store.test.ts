import { expect, test, vi } from 'vitest'
import { FakeServer, RefusedAnswer } from '../../../dev/fake-server'
import { ApiClient } from '../api/client'
import type { PastSessionEntry } from '../generated/contracts'
import { ImportStore } from './import-store'

function buildPastSession(sourceId: string, more: Partial<PastSessionEntry> = {}): PastSessionEntry {
  return { source: 'codex', product: 'Codex', sourceId, folder: '/a', title: sourceId, changed: 1, ...more }
}

type Answers = Readonly<Record<string, (body: Record<string, string>) => unknown>>

function createStore(answers: Answers) {
  const server = new FakeServer({ workspace: [], sessions: {}, answers })
  return { server, store: new ImportStore(new ApiClient(server.fetch, () => 'key')) }
}

/** An answer that is sent when `release` is called. */
function deferAnswer(answer: unknown) {
  let release = () => {}
  const deferred = new Promise((resolve) => {
    release = () => resolve(answer)
  })
  return { answer: () => deferred, release }
}

const IMPORTED = { sessionId: 'ses_1', added: 2, known: 0 }
const listStates = ({ view }: ImportStore) =>
  Object.fromEntries(Object.entries(view.imports).map(([key, progress]) => [key, progress.state]))

test('the list of a folder is dropped when another is opened, even if it arrives late', async () => {
  const late = deferAnswer({ sessions: [buildPastSession('a')] })
  const { store: past } = createStore({
    list_past_sessions: ({ workspaceId }) =>
      workspaceId === 'wks_a' ? late.answer() : { sessions: [buildPastSession('b')] },
  })
  const first = past.open('wks_a')
  await past.open('wks_b')
  late.release()
  await first

  expect(past.view.list?.sessions).toEqual([buildPastSession('b')])
})

test('sessions are imported one after the other, by key, and the list is read again', async () => {
  let here = false
  const first = deferAnswer(IMPORTED)
  const { store: past, server } = createStore({
    list_past_sessions: () => ({
      sessions: [buildPastSession('a', here ? { imported: true } : {}), buildPastSession('b')],
    }),
    import_past_session: ({ sourceId }) => (sourceId === 'a' ? first.answer() : IMPORTED),
  })
  await past.open('wks_a')
  const done = past.enqueue([buildPastSession('a'), buildPastSession('b')])
  expect(listStates(past)).toEqual({ 'codex a': 'running', 'codex b': 'waiting' })
  await past.enqueue([buildPastSession('a')])
  here = true
  first.release()
  await done

  expect(listStates(past)).toEqual({ 'codex a': 'done', 'codex b': 'done' })
  expect(past.view.list?.sessions[0]?.imported).toBe(true)
  expect(server.requests.map(({ name, body }) => [name, body])).toEqual([
    ['import_past_session', { workspaceId: 'wks_a', source: 'codex', sourceId: 'a' }],
    ['import_past_session', { workspaceId: 'wks_a', source: 'codex', sourceId: 'b' }],
  ])
})

test('stopping drops waiting imports, and a running one continues', async () => {
  const first = deferAnswer(IMPORTED)
  const { store: past, server } = createStore({ import_past_session: () => first.answer() })
  await past.open('wks_a')
  const done = past.enqueue([buildPastSession('a'), buildPastSession('b')])
  past.stop()
  first.release()
  await done

  expect(listStates(past)).toEqual({ 'codex a': 'done' })
  expect(server.requests).toHaveLength(1)
})

test('a failed import shows the reason, and the next one is imported', async () => {
  const refusal = new RefusedAnswer(422, { code: 'transcript_unreadable', message: 'Gone.' })
  const { store: past } = createStore({
    import_past_session: ({ sourceId }) => (sourceId === 'a' ? refusal : IMPORTED),
  })
  await past.open('wks_a')
  await past.enqueue([buildPastSession('a'), buildPastSession('b')])

  expect(past.view.imports).toEqual({
    'codex a': {
      state: 'failed',
      refusal: {
        code: 'transcript_unreadable',
        message: 'Gone.',
        hint: '',
        field: '',
        reason: '',
        params: {},
      },
    },
    'codex b': { state: 'done', answer: IMPORTED },
  })
})

test('a running import is polled until it ends, even if another page started it', async () => {
  vi.useFakeTimers()
  try {
    const states = [{ importing: 1 }, { importing: 7 }, { imported: true }]
    let count = 0
    const { store: past } = createStore({
      list_past_sessions: () => ({ sessions: [buildPastSession('a', states[count++])] }),
    })
    await past.open('wks_a')
    expect(past.view.list?.sessions[0]?.importing).toBe(1)
    await vi.advanceTimersByTimeAsync(1000)
    expect(past.view.list?.sessions[0]?.importing).toBe(7)
    await vi.advanceTimersByTimeAsync(10_000)

    expect(past.view.list?.sessions[0]?.imported).toBe(true)
    expect(count).toBe(3)
  } finally {
    vi.useRealTimers()
  }
})

test('a list that could not be read shows the reason, and is read on the next attempt', async () => {
  let answer: unknown = new RefusedAnswer(500, { code: 'internal', message: 'Broken.' })
  const { store: past } = createStore({ list_past_sessions: () => answer })
  await past.open('wks_a')
  expect([past.view.failed?.message, past.view.list]).toEqual(['Broken.', null])
  answer = { sessions: [] }
  await past.open('wks_a')

  expect([past.view.failed, past.view.list]).toEqual([null, { sessions: [] }])
})
