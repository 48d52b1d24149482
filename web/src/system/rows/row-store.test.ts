import { expect, test } from 'vitest'
import {
  append,
  buildPosition,
  buildQueueRow,
  buildStatusRow,
  buildTextPart,
  buildToolPart,
  buildTurnRow,
  upsert,
} from '../../../dev/rows'
import type { BlobRef, Op } from '../generated/contracts'
import { RowStore } from './row-store'

const atStep = (step: number) => buildPosition('trn_a', 10, step)
const KEY = 'run_trn_a.1'

function readText(store: RowStore, key = KEY): string {
  const part = store.getPanel('parts').get(key)
  if (part?.kind !== 'assistant_text') throw new Error(`${key} is no text part`)
  return part.content.text
}

function buildStream(text: string): RowStore {
  const store = new RowStore()
  store.apply([upsert('parts', buildTextPart(atStep(1), text, { state: 'streaming' }))])
  return store
}

test('an absent field has its default', () => {
  const store = new RowStore()
  store.apply([upsert('parts', { kind: 'assistant_text', ...atStep(1), state: 'streaming', content: {} })])
  expect(store.getPanel('parts').get(KEY)).toEqual({
    kind: 'assistant_text',
    ...atStep(1),
    state: 'streaming',
    content: { text: '', ref: null, erased: false },
    commentary: false,
    revised: false,
  })
})

test('a row of an unknown kind is left out, and the others are shown', () => {
  const store = new RowStore()
  const unknown = { kind: 'hologram', ...atStep(1) } as never
  expect(store.apply([upsert('parts', unknown), upsert('parts', buildTextPart(atStep(2), 'here'))])).toBe(
    'applied',
  )
  expect(
    store
      .getPanel('parts')
      .list()
      .map((part) => part.key),
  ).toEqual(['run_trn_a.2'])
})

test('a panel is in the order of its rows, and equal ones in the order of their keys', () => {
  const store = new RowStore()
  store.apply([
    upsert('queue', buildQueueRow('trn_c', 2, 'third')),
    upsert('queue', buildQueueRow('trn_b', 2, 'second')),
    upsert('queue', buildQueueRow('trn_a', 1, 'first')),
  ])
  expect(
    store
      .getPanel('queue')
      .list()
      .map((row) => row.input.text),
  ).toEqual(['first', 'second', 'third'])
  store.apply([{ op: 'remove', panel: 'queue', key: 'trn_b' }])
  expect(
    store
      .getPanel('queue')
      .list()
      .map((row) => row.input.text),
  ).toEqual(['first', 'third'])
})

test('the parts of a turn are in the order of their start, whenever they arrive (UI-03)', () => {
  const store = new RowStore()
  store.apply([
    upsert('parts', buildTextPart(atStep(3), 'b')),
    upsert('parts', buildToolPart(atStep(2), 'Read')),
  ])
  store.apply([upsert('parts', buildTextPart(atStep(1), 'a'))])
  expect(
    store
      .getPanel('parts')
      .listTurn('trn_a')
      .map((part) => part.key),
  ).toEqual(['run_trn_a.1', 'run_trn_a.2', 'run_trn_a.3'])
})

test('text is appended at its offset, counted in characters', () => {
  const store = buildStream('Hé 🎭')
  expect(store.apply([append(KEY, 'content', 4, ' on'), append(KEY, 'content', 7, ' stage')])).toBe('applied')
  expect(readText(store)).toBe('Hé 🎭 on stage')
})

test('a repeated piece is skipped, and an overlapping one adds the rest (UI-34)', () => {
  const store = buildStream('one two')
  store.apply([append(KEY, 'content', 0, 'one'), append(KEY, 'content', 4, 'two three')])
  expect(readText(store)).toBe('one two three')
})

test('a piece after a missing one is a gap and changes nothing (UI-30)', () => {
  const store = buildStream('one')
  expect(store.apply([append(KEY, 'content', 9, 'four')])).toBe('gap')
  expect(readText(store)).toBe('one')
  expect(store.apply([append('run_trn_a.7', 'content', 0, 'x')])).toBe('gap')
})

test('the final text replaces the streamed text and is never appended (UI-05)', () => {
  const store = buildStream('The ans')
  store.apply([
    upsert('parts', buildTextPart({ ...atStep(1), sequence: 30 }, 'The answer.', { revised: true })),
  ])
  expect(readText(store)).toBe('The answer.')
})

test('an older row changes nothing (UI-34)', () => {
  const store = new RowStore()
  const newer = buildTurnRow('trn_a', 10, { sequence: 20, state: 'completed' })
  store.apply([
    upsert('turns', newer),
    upsert('turns', buildTurnRow('trn_a', 10, { sequence: 15, state: 'running' })),
  ])
  expect(store.getPanel('turns').get('trn_a')?.state).toBe('completed')
})

test('the output of a tool grows by its call id', () => {
  const store = new RowStore()
  store.apply([upsert('parts', buildToolPart({ ...atStep(1), key: 'cal_a' }, 'Bash', { state: 'progress' }))])
  store.apply([append('cal_a', 'output', 0, 'one\n'), append('cal_a', 'output', 4, 'two\n')])
  const part = store.getPanel('parts').get('cal_a')
  expect(part?.kind === 'tool_call' && part.output.text).toBe('one\ntwo\n')
})

test('a snapshot replaces all rows, and repeats no text (UI-30)', () => {
  const store = buildStream('one two')
  const snapshot: readonly Op[] = [
    upsert('parts', buildTextPart(atStep(1), 'one two three', { state: 'streaming' })),
  ]
  store.replace(snapshot)
  store.apply([append(KEY, 'content', 13, ' four')])
  expect(readText(store)).toBe('one two three four')
  store.replace([upsert('status', buildStatusRow())])
  expect(store.getPanel('parts').size).toBe(0)
})

test('older turns stay if the snapshot adjoins them, and are dropped otherwise', () => {
  const store = new RowStore()
  store.replace([upsert('turns', buildTurnRow('trn_b', 50))])
  store.merge('turns', [buildTurnRow('trn_a', 10)])
  store.merge('parts', [buildTextPart(atStep(1), 'old')])
  store.replace([upsert('turns', buildTurnRow('trn_b', 50)), upsert('turns', buildTurnRow('trn_c', 90))])
  expect(
    store
      .getPanel('turns')
      .list()
      .map((turn) => turn.key),
  ).toEqual(['trn_a', 'trn_b', 'trn_c'])
  expect(readText(store)).toBe('old')
  store.replace([upsert('turns', buildTurnRow('trn_z', 900))])
  expect(
    store
      .getPanel('turns')
      .list()
      .map((turn) => turn.key),
  ).toEqual(['trn_z'])
  expect(store.getPanel('parts').size).toBe(0)
})

test('a turn that was queued when last seen does not adjoin: turns may have ended in between', () => {
  const store = new RowStore()
  const waits = { state: 'queued', startedAt: 0, endedAt: 0 } as const
  store.replace([
    upsert('turns', buildTurnRow('trn_a', 10)),
    upsert('turns', buildTurnRow('trn_q', 20, waits)),
  ])
  store.replace([
    upsert('turns', buildTurnRow('trn_q', 90)),
    upsert('turns', buildTurnRow('trn_r', 25, waits)),
  ])
  expect(
    store
      .getPanel('turns')
      .list()
      .map((turn) => turn.key),
  ).toEqual(['trn_r', 'trn_q'])
})

test('a query never replaces rows of the stream', () => {
  const store = buildStream('newest')
  store.merge('parts', [buildTextPart(atStep(1), 'older')])
  expect(readText(store)).toBe('newest')
})

test('streamed text is passed on when its row keeps only a preview, unless it was revised', () => {
  const handed: [BlobRef, string][] = []
  const store = new RowStore((ref, text) => handed.push([ref, text]))
  const ref = { hash: 'h', size: 9 }
  const content = { text: 'The', ref }
  store.apply([upsert('parts', buildTextPart(atStep(1), 'The whole', { state: 'streaming' }))])
  store.apply([upsert('parts', buildTextPart({ ...atStep(1), sequence: 30 }, '', { content }))])
  expect(handed).toEqual([[ref, 'The whole']])
  store.apply([upsert('parts', buildTextPart(atStep(2), 'The secret', { state: 'streaming' }))])
  store.apply([
    upsert('parts', buildTextPart({ ...atStep(2), sequence: 31 }, '', { content, revised: true })),
  ])
  expect(handed).toHaveLength(1)
})

test('listeners are notified once per batch', () => {
  const store = new RowStore()
  let heard = 0
  store.changes.subscribe(() => heard++)
  store.apply([
    upsert('parts', buildTextPart(atStep(1), 'a')),
    upsert('parts', buildTextPart(atStep(2), 'b')),
  ])
  expect(heard).toBe(1)
})
