import { expect, test, vi } from 'vitest'
import { buildShell, createBench, startLive } from '../../../dev/bench'
import { RefusedAnswer } from '../../../dev/fake-server'
import { buildPosition, buildTextPart, buildTurnRow, SESSION, upsert } from '../../../dev/rows'

test('older turns load page by page until there are none left (UI-27)', async () => {
  const pages = [
    Array.from({ length: 20 }, (_, i) => buildTurnRow(`trn_${10 + i}`, 100 + i)),
    [buildTurnRow('trn_0', 50)],
  ]
  const requests: string[] = []
  const { workbench } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION), upsert('turns', buildTurnRow('trn_z', 900))] },
    answers: {
      get_turns: (body) => {
        requests.push(String(body.before))
        return { turns: pages[requests.length - 1] ?? [] }
      },
    },
  })
  await startLive(workbench, SESSION)
  const session = workbench.active
  await session?.loadOlder()
  expect(session?.reachedStart).toBe(false)
  await session?.loadOlder()
  expect(session?.reachedStart).toBe(true)
  await session?.loadOlder()
  expect(requests).toEqual(['900', '100'])
  expect(session?.feed.rows.getPanel('turns').size).toBe(22)
})

test('queued turns do not block older turns', async () => {
  const requests: string[] = []
  const waits = (id: string, order: number) =>
    buildTurnRow(id, order, { state: 'queued', startedAt: 0, endedAt: 0 })
  const { workbench } = createBench({
    sessions: {
      [SESSION]: [
        buildShell(SESSION),
        upsert('turns', waits('trn_q', 30)),
        upsert('turns', buildTurnRow('trn_r', 500)),
      ],
    },
    answers: {
      get_turns: (body) => {
        requests.push(String(body.before))
        const queued = Array.from({ length: 20 }, (_, i) => waits(`trn_q${i}`, 100 + i))
        return { turns: requests.length === 1 ? queued : [buildTurnRow('trn_old', 20)] }
      },
    },
  })
  await startLive(workbench, SESSION)
  await workbench.active?.loadOlder()
  await workbench.active?.loadOlder()
  expect(requests).toEqual(['500', '100'])
  expect(workbench.active?.reachedStart).toBe(true)
})

test('a snapshot that starts within a turn loads the rest of that turn (UI-27)', async () => {
  const requests: string[] = []
  const parts = [
    buildTextPart(buildPosition('trn_a', 9, 2), 'first'),
    buildTextPart(buildPosition('trn_a', 9, 7), 'last'),
  ] as const
  const { workbench } = createBench({
    sessions: {
      [SESSION]: [buildShell(SESSION), upsert('turns', buildTurnRow('trn_a', 9)), upsert('parts', parts[1])],
    },
    answers: {
      get_parts: (body) => {
        requests.push(String(body.turnId))
        return { parts }
      },
    },
  })
  await startLive(workbench, SESSION)
  await vi.waitFor(() => expect(workbench.active?.feed.rows.getPanel('parts').size).toBe(2))
  expect(requests).toEqual(['trn_a'])
})

test('the parts of a turn are read once, and again only after a failure', async () => {
  let requests = 0
  const { workbench } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION)] },
    answers: {
      get_parts: () =>
        ++requests === 1
          ? new RefusedAnswer(500, { code: 'internal', message: 'no' })
          : { parts: [buildTextPart(buildPosition('trn_a', 9, 1), 'old')] },
    },
  })
  await startLive(workbench, SESSION)
  const session = workbench.active
  await expect(session?.loadParts('trn_a')).rejects.toThrow('no')
  await Promise.all([session?.loadParts('trn_a'), session?.loadParts('trn_a')])
  await session?.loadParts('trn_a')
  expect(requests).toBe(2)
  expect(session?.feed.rows.getPanel('parts').size).toBe(1)
})
