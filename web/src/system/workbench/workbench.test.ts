import { expect, test, vi } from 'vitest'
import { buildShell, createBench, startLive } from '../../../dev/bench'
import { RefusedAnswer } from '../../../dev/fake-server'
import {
  append,
  buildActionRow,
  buildCardRow,
  buildPosition,
  buildQueueRow,
  buildSessionRow,
  buildStatusRow,
  buildTextPart,
  buildTurnRow,
  buildWorkspaceRow,
  SESSION,
  upsert,
} from '../../../dev/rows'
import { ApiClient } from '../api/client'
import { createId } from '../ids'
import { Drafts } from '../local/drafts'
import { LocalValues } from '../local/local-values'
import { NEW_SESSION, Workbench } from './workbench'

const input = { text: 'Do it', sendMode: 'start', mode: 'chat', permissionMode: 'ask', chosen: true } as const

const readTitle = (workbench: Workbench) => workbench.active?.feed.rows.getPanel('session').list()[0]?.title
const listSent = (workbench: Workbench, id = SESSION) =>
  workbench.outbox.listEntries(id).map(({ text, state }) => ({ text, state }))

test('it starts with the server metadata and the first folder', async () => {
  const { workbench } = createBench({})
  await workbench.begin(null)
  expect(workbench.phase).toBe('ready')
  expect(workbench.workspaceId).toBe('wks_a')
})

test('concurrent starts share one request, and an earlier session keeps its folder', async () => {
  const { workbench, calls } = createBench({
    sessions: { [SESSION]: [upsert('session', buildSessionRow({ workspaceId: 'wks_other' }))] },
  })
  workbench.openSession(SESSION)
  await vi.waitFor(() => expect(workbench.workspaceId).toBe('wks_other'))
  await Promise.all([workbench.begin(null), workbench.begin(null)])
  expect(calls.filter((path) => path.endsWith('/meta'))).toHaveLength(1)
  expect(workbench.workspaceId).toBe('wks_other')
})

test('a demo starts once, however often it is clicked, and is shown', async () => {
  const { workbench, server } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION)] },
    answers: { start_demo: () => ({ sessionId: SESSION }) },
  })
  await workbench.begin(null)
  await Promise.all([workbench.startDemo('solo_run'), workbench.startDemo('solo_run')])
  expect(server.requests).toMatchObject([{ name: 'start_demo', body: { name: 'solo_run' } }])
  expect(workbench.active?.id).toBe(SESSION)
  workbench.openSession(null)
})

test.each([
  [401, { code: 'unauthenticated', message: '' }, 'unauthenticated'],
  [500, { code: 'internal', message: '' }, 'unreachable'],
])('without an answer the phase shows why: %s', async (status, body, phase) => {
  const api = new ApiClient(async () => new Response(JSON.stringify(body), { status }), String)
  const workbench = new Workbench(api, new Drafts(new LocalValues(null)))
  await workbench.begin(null)
  expect(workbench.phase).toBe(phase)
})

test('the stream is open before the turn is submitted (UI-01)', async () => {
  const { workbench, calls } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION), upsert('status', buildStatusRow())] },
    answers: {
      submit_turn: () => ({
        sessionId: SESSION,
        threadId: 'thr_a',
        turnId: 'x',
        status: 'started',
        sequence: 3,
      }),
    },
  })
  await startLive(workbench, SESSION)
  await workbench.send(input)
  expect(calls.indexOf(`/api/v1/sessions/${SESSION}/ops`)).toBeLessThan(
    calls.indexOf('/api/v1/commands/submit_turn'),
  )
})

test('sent input is shown immediately, and removed when its turn arrives (UI-02)', async () => {
  let answer: (value: unknown) => void = () => {}
  const { workbench, server, drafts } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION)] },
    answers: { submit_turn: () => new Promise((resolve) => (answer = resolve)) },
  })
  await startLive(workbench, SESSION)
  drafts.set(SESSION, 'Do it')
  const sending = workbench.send(input)
  expect(listSent(workbench)).toEqual([{ text: 'Do it', state: 'sending' }])
  expect(drafts.get(SESSION)).toBe('')
  const [entry] = workbench.outbox.listEntries(SESSION)
  server.send(SESSION, [upsert('turns', buildTurnRow('trn_other', 5))])
  await vi.waitFor(() => expect(workbench.active?.feed.rows.getPanel('turns').size).toBe(1))
  expect(listSent(workbench)).toHaveLength(1)
  server.send(SESSION, [upsert('turns', buildTurnRow(entry?.id ?? '', 9, { state: 'running' }))])
  await vi.waitFor(() => expect(listSent(workbench)).toEqual([]))
  answer({ sessionId: SESSION })
  await sending
  expect(listSent(workbench)).toEqual([])
})

test('a refused turn restores its text, before the text typed since (UI-12)', async () => {
  const { workbench, drafts, server } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION)] },
    answers: {
      submit_turn: () => new RefusedAnswer(409, { code: 'thread_busy', message: 'A turn is running.' }),
    },
  })
  await startLive(workbench, SESSION)
  const sending = workbench.send(input)
  drafts.set(SESSION, 'and more')
  await sending
  expect(server.requests[0]?.body).toMatchObject({ sessionId: SESSION, whenBusy: 'refuse', text: 'Do it' })
  expect(drafts.get(SESSION)).toBe('Do it\n\nand more')
  expect(listSent(workbench)).toEqual([])
  expect(workbench.notices.list).toMatchObject([{ code: 'thread_busy', message: 'A turn is running.' }])
})

test.each([
  ['queue', { whenBusy: 'queue' }],
  ['interrupt', { whenBusy: 'interrupt' }],
] as const)('input to a running turn names what to do with it: %s (UI-11, UI-12)', async (how, body) => {
  const { workbench, server } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION)] },
    answers: { submit_turn: () => ({ sessionId: SESSION }) },
  })
  await startLive(workbench, SESSION)
  await workbench.send({ ...input, sendMode: how })
  expect(server.requests).toMatchObject([{ name: 'submit_turn', body }])
})

test('a steer is a separate command and pending until its part arrives (UI-11)', async () => {
  const { workbench, server } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION)] },
    answers: { steer_turn: () => ({ sessionId: SESSION }) },
  })
  await startLive(workbench, SESSION)
  await workbench.send({ ...input, sendMode: 'steer' })
  const steerId = String(server.requests[0]?.body.steerId)
  expect(server.requests).toMatchObject([
    { name: 'steer_turn', body: { sessionId: SESSION, text: 'Do it', steerId } },
  ])
  expect(listSent(workbench)).toEqual([{ text: 'Do it', state: 'accepted' }])
  const steer = {
    kind: 'user_text',
    ...buildPosition('trn_a', 5, 2),
    steerId,
    outcome: 'pending',
    content: { text: 'Do it' },
  } as const
  server.send(SESSION, [upsert('parts', steer)])
  await vi.waitFor(() => expect(listSent(workbench)).toEqual([]))
})

test('a turn whose answer was lost reads unconfirmed, and is resent as the same turn (CTL-02)', async () => {
  const { server, drafts } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION)] },
    answers: { submit_turn: () => ({ sessionId: SESSION }) },
  })
  let down = true
  const api = new ApiClient(
    (path, init) =>
      down && path.includes('submit') ? Promise.reject(new TypeError('down')) : server.fetch(path, init),
    () => createId('key'),
  )
  const workbench = new Workbench(api, drafts)
  await startLive(workbench, SESSION)
  await workbench.send(input)
  const [entry] = workbench.outbox.listEntries(SESSION)
  if (entry === undefined) throw new Error('nothing was kept')
  expect(entry.state).toBe('unconfirmed')
  expect(drafts.get(SESSION)).toBe('')
  down = false
  await workbench.resend(entry)
  expect(server.requests).toMatchObject([{ key: entry.key, body: { turnId: entry.id } }])
})

test('a new session is opened when it is created, unless the person moved on (UI-28)', async () => {
  const sessions = { ses_new: [buildShell('ses_new')], [SESSION]: [buildShell(SESSION)] }
  const answers = { submit_turn: () => ({ sessionId: 'ses_new' }) }
  const stays = createBench({ sessions, answers })
  await stays.workbench.begin(null)
  await stays.workbench.send(input)
  expect(stays.server.requests[0]?.body).toMatchObject({ workspaceId: 'wks_a', text: 'Do it' })
  expect(stays.workbench.active?.id).toBe('ses_new')
  const leaves = createBench({ sessions, answers })
  await leaves.workbench.begin(null)
  const sending = leaves.workbench.send(input)
  leaves.workbench.openSession(SESSION)
  await sending
  expect(leaves.workbench.active?.id).toBe(SESSION)
  expect(leaves.drafts.get(NEW_SESSION)).toBe('')
})

test('a late answer for an inactive session changes nothing: A, B, A (UI-28)', async () => {
  let answerA: (value: unknown) => void = () => {}
  const { workbench, server } = createBench({
    sessions: {
      ses_a: [buildShell('ses_a'), upsert('turns', buildTurnRow('trn_new', 90))],
      ses_b: [buildShell('ses_b')],
    },
    answers: { get_turns: () => new Promise((resolve) => (answerA = resolve)) },
  })
  await startLive(workbench, 'ses_a')
  const first = workbench.active
  const loading = first?.loadOlder()
  await startLive(workbench, 'ses_b')
  server.send('ses_a', [upsert('turns', buildTurnRow('trn_late', 95))])
  answerA({ turns: [buildTurnRow('trn_old', 10)] })
  await loading
  expect(readTitle(workbench)).toBe('ses_b')
  expect(workbench.active?.feed.rows.getPanel('turns').size).toBe(0)
  await startLive(workbench, 'ses_a')
  expect(workbench.active).toBe(first)
  expect(readTitle(workbench)).toBe('ses_a')
  await vi.waitFor(() =>
    expect(
      first?.feed.rows
        .getPanel('turns')
        .list()
        .map((turn) => turn.key),
    ).toEqual(['trn_old', 'trn_new', 'trn_late']),
  )
  expect(
    server.opened.filter(({ path }) => path.includes('ses_a')).map(({ cursor }) => cursor !== null),
  ).toEqual([false, true])
})

test('a gap keeps the rows, is shown, and repairs without repeated text (UI-30)', async () => {
  const key = 'run_trn_a.1'
  const { workbench, server } = createBench({
    sessions: {
      [SESSION]: [
        buildShell(SESSION),
        upsert('parts', buildTextPart(buildPosition('trn_a', 9, 1), 'one', { state: 'streaming' })),
      ],
    },
  })
  await startLive(workbench, SESSION)
  const feed = workbench.active?.feed
  const readText = () => {
    const part = feed?.rows.getPanel('parts').get(key)
    return part?.kind === 'assistant_text' ? part.content.text : null
  }
  const states: (string | null)[] = []
  feed?.changes.subscribe(() => states.push(`${feed.connection}: ${readText()}`))
  server.skip(SESSION, [append(key, 'content', 3, ' two')])
  server.send(SESSION, [append(key, 'content', 7, ' three')])
  await vi.waitFor(() => expect(readText()).toBe('one two three'))
  expect(states).toEqual(['repairing: one', 'live: one two three'])
})

test('an answer to a request reads as sent until its row is removed, and can be repeated after a refusal (UI-09)', async () => {
  let refuse = true
  const { workbench, server } = createBench({
    sessions: { [SESSION]: [buildShell(SESSION), upsert('actions', buildActionRow())] },
    answers: {
      respond_action: () =>
        refuse ? new RefusedAnswer(409, { code: 'decision_not_offered', message: 'no' }) : {},
    },
  })
  await startLive(workbench, SESSION)
  const response = { sessionId: SESSION, actionId: 'act_a', decision: 'approve', scope: 'once' } as const
  await workbench.answer(response)
  expect(workbench.getPendingDecision('act_a')).toBeNull()
  refuse = false
  await workbench.answer(response)
  expect(workbench.getPendingDecision('act_a')).toBe('approve')
  expect(workbench.active?.feed.rows.getPanel('actions').size).toBe(1)
  server.send(SESSION, [{ op: 'remove', panel: 'actions', key: 'act_a' }])
  await vi.waitFor(() => expect(workbench.active?.feed.rows.getPanel('actions').size).toBe(0))
})

test('a missing session shows that, and a deleted one leaves the screen', async () => {
  const { workbench } = createBench({})
  workbench.openSession('ses_gone')
  await vi.waitFor(() => expect(workbench.active?.feed.connection).toBe('gone'))
  workbench.forget('ses_gone')
  expect(workbench.active).toBeNull()
})

test('a session switches to its own folder', async () => {
  const other = upsert('session', buildSessionRow({ key: SESSION, workspaceId: 'wks_b' }))
  const { workbench } = createBench({ sessions: { [SESSION]: [other] } })
  await workbench.begin(null)
  await startLive(workbench, SESSION)
  expect(workbench.workspaceId).toBe('wks_b')
})

test('queued turns and session cards are rows like any other', async () => {
  const { workbench } = createBench({
    workspace: [upsert('workspaces', buildWorkspaceRow()), upsert('sessions', buildCardRow(SESSION, 5))],
    sessions: { [SESSION]: [buildShell(SESSION), upsert('queue', buildQueueRow('trn_q', 1, 'later'))] },
  })
  await workbench.begin(null)
  await startLive(workbench, SESSION)
  await vi.waitFor(() => expect(workbench.workspaceFeed?.rows.getPanel('sessions').size).toBe(1))
  expect(workbench.active?.feed.rows.getPanel('queue').list()[0]?.input.text).toBe('later')
})
