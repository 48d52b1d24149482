import { expect, test } from 'vitest'
import { append, buildPosition, buildTextPart, buildTurnRow, upsert } from '../../../dev/rows'
import { RowStore } from '../rows/row-store'
import { Timings } from './timings'

function createBench() {
  const state = { now: 0, measured: [] as string[], paints: [] as ((painted: boolean) => void)[] }
  const clock = {
    now: () => state.now,
    measure: (name: string) => {
      state.measured.push(name)
      return {} as PerformanceMeasure
    },
    clearMeasures: () => {},
  }
  const timings = new Timings(clock, (done) => state.paints.push(done))
  const rows = new RowStore()
  rows.changes.subscribe(() => timings.recordRows(rows))
  return { state, timings, rows, of: (name: string) => timings.all.find((timing) => timing.name === name) }
}

test('status and first text are measured from sending (UI-32)', () => {
  const { state, timings, rows, of } = createBench()
  timings.recordSent('trn_a', true)
  state.now = 40
  rows.apply([upsert('turns', buildTurnRow('trn_a', 10, { state: 'running', endedAt: 0 }))])
  state.now = 70
  rows.apply([upsert('parts', buildTextPart(buildPosition('trn_a', 10, 1), '', { state: 'streaming' }))])
  expect(of('text')).toBeUndefined()
  state.now = 90
  rows.apply([append('run_trn_a.1', 'content', 0, 'Hello')])
  state.now = 120
  rows.apply([append('run_trn_a.1', 'content', 5, ' there')])
  expect(of('status')).toEqual({ name: 'status', count: 1, last: 40, typical: 40, worst: 40 })
  expect(of('text')).toEqual({ name: 'text', count: 1, last: 90, typical: 90, worst: 90 })
  expect(state.measured).toEqual(['callboard status', 'callboard text'])
})

test('a turn that is queued, refused or ends without text has no first text (UI-32)', () => {
  const { timings, rows, of } = createBench()
  timings.recordSent('trn_q', false)
  timings.recordSent('trn_r', true)
  timings.forget('trn_r')
  timings.recordSent('trn_e', true)
  for (const id of ['trn_q', 'trn_r', 'trn_e']) rows.apply([upsert('turns', buildTurnRow(id, 10))])
  for (const id of ['trn_q', 'trn_r', 'trn_e']) {
    rows.apply([upsert('parts', buildTextPart(buildPosition(id, 10, 1), 'late'))])
  }
  expect(of('status')?.count).toBe(2)
  expect(of('text')).toBeUndefined()
})

test('rows before one frame are one paint, and an opened session is measured once (UI-32)', () => {
  const { state, timings, rows, of } = createBench()
  const opened = timings.startOpening()
  rows.replace([])
  state.now = 5
  rows.apply([])
  opened()
  opened()
  state.now = 12
  for (const done of state.paints) done(true)
  expect(of('paint')).toEqual({ name: 'paint', count: 1, last: 12, typical: 12, worst: 12 })
  expect(of('hydration')).toEqual({ name: 'hydration', count: 1, last: 12, typical: 12, worst: 12 })
})

test('reads on demand are measured, failed ones are not (UI-32)', async () => {
  const { state, timings, of } = createBench()
  for (const took of [30, 10, 20]) {
    await timings.measureRead(async () => {
      state.now += took
    })
  }
  await expect(timings.measureRead(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(of('detail')).toEqual({ name: 'detail', count: 3, last: 20, typical: 20, worst: 30 })
})

test('a hidden page is not measured, and a visible one is measured again (UI-32)', () => {
  const { state, rows, of } = createBench()
  rows.apply([])
  state.paints.pop()?.(false)
  expect(of('paint')).toBeUndefined()
  rows.apply([])
  state.paints.pop()?.(true)
  expect(of('paint')?.count).toBe(1)
})
