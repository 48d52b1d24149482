import { expect, test } from 'vitest'
import { place, reasoningPart, textPart, toolPart, turnRow, upsert } from '../../../dev/rows'
import type { AnyPart, TurnRow as WireTurn } from '../generated/contracts'
import { RowStore } from '../rows/row-store'
import type { SentInput } from '../stores/outbox'
import { buildConversation, type ConversationOptions } from './conversation'

const at = (step: number) => place('trn_a', 10, step)

function items(turn: WireTurn, parts: readonly AnyPart[], choices: Partial<ConversationOptions> = {}) {
  const store = new RowStore()
  store.apply([upsert('turns', turn), ...parts.map((part) => upsert('parts', part))])
  return buildConversation(store.panel('turns').all(), {
    opened: new Set(),
    sent: [],
    parts: (turnId) => store.panel('parts').ofTurn(turnId),
    hasParts: () => true,
    ...choices,
  })
}

const kinds = (list: ReturnType<typeof items>) => list.map((item) => item.kind)
const process = [
  reasoningPart(at(1), 'thinking'),
  toolPart(at(2), 'Read'),
  textPart(at(3), 'so far', { commentary: true }),
  toolPart(at(4), 'Edit', { changes: [{ path: 'a', kind: 'modified', added: 3, removed: 1 }] }),
]
const answer = textPart(at(5), 'the answer')
const done = turnRow('trn_a', 10, { toolCalls: 2, filesChanged: 1, finalParts: ['run_trn_a.5'] })

test('a running turn is open, in the order of its parts (UI-03, UI-04)', () => {
  const list = items(turnRow('trn_a', 10, { state: 'running' }), [...process].reverse())
  expect(list.map((item) => (item.kind === 'part' ? item.part.kind : item.kind))).toEqual([
    'input',
    'reasoning_summary',
    'tool_call',
    'assistant_text',
    'tool_call',
    'working',
  ])
})

test('an unfinished part shows the current work, so nothing else does', () => {
  const list = items(turnRow('trn_a', 10, { state: 'running' }), [
    textPart(at(1), 'Th', { state: 'streaming' }),
  ])
  expect(kinds(list)).toEqual(['input', 'part'])
})

test('a completed turn folds into one summary, and the answer stays (UI-04, UI-06)', () => {
  const list = items(done, [...process, answer])
  expect(kinds(list)).toEqual(['input', 'summary', 'answer'])
  expect(list[1]).toMatchObject({
    open: false,
    activity: { tools: 2, files: 1, added: 3, removed: 1, failedTools: 0, refusedTools: 0, duration: 12_000 },
  })
})

test('a rejected call differs from a failed one', () => {
  const failed = toolPart(at(1), 'Bash', { state: 'output-error', code: 'tool_failed' })
  const refused = toolPart(at(2), 'Bash', { state: 'output-error', code: 'person_denied', startedAt: 0 })
  expect(items(done, [failed, refused, answer])[1]).toMatchObject({
    activity: { failedTools: 1, refusedTools: 1 },
  })
})

test('an opened turn shows its process, with commentary in place and the answer once (UI-04, UI-05)', () => {
  const list = items(done, [...process, answer], { opened: new Set(['trn_a']) })
  expect(kinds(list)).toEqual(['input', 'summary', 'part', 'part', 'part', 'part', 'answer'])
})

test('a part keeps its key when its turn ends, so its row keeps its place', () => {
  const running = items(turnRow('trn_a', 10, { state: 'running' }), [answer])
  const ended = items(done, [answer])
  expect(running[1]?.key).toBe(ended[1]?.key)
})

test('an interrupted turn keeps its text and shows how it ended', () => {
  const turn = turnRow('trn_a', 10, { state: 'interrupted', code: 'person' })
  expect(kinds(items(turn, [textPart(at(1), 'half', { state: 'interrupted' })]))).toEqual([
    'input',
    'answer',
    'outcome',
  ])
})

test('a failed turn shows the error that ended it once, outside the fold', () => {
  const error = (step: number, message: string): AnyPart => ({
    kind: 'error',
    ...at(step),
    code: 'internal',
    message,
  })
  const list = items(turnRow('trn_a', 10, { state: 'failed' }), [error(1, 'first'), error(9, 'last')])
  expect(kinds(list)).toEqual(['input', 'summary', 'outcome'])
  expect(list[2]).toMatchObject({ error: { message: 'last' } })
})

test('a rejected steer is not folded, and follows the answer (UI-11)', () => {
  const steer: AnyPart = {
    kind: 'user_text',
    ...at(3),
    steerId: 'str_a',
    outcome: 'rejected',
    reason: 'turn_completed',
    content: { text: 'and this' },
  }
  expect(kinds(items(done, [...process, steer, answer]))).toEqual(['input', 'summary', 'answer', 'part'])
})

test('a turn without parts shows that they are not loaded (UI-26)', () => {
  expect(kinds(items(done, [], { hasParts: () => false }))).toEqual(['input', 'unloaded'])
})

test('queued and removed turns are not part of the conversation', () => {
  expect(items(turnRow('trn_a', 10, { state: 'queued' }), [])).toEqual([])
  expect(items(turnRow('trn_a', 10, { state: 'removed' }), [])).toEqual([])
})

test('sent input is at the end until its fact arrives; queued input is not in the conversation (UI-02)', () => {
  const entry = (id: string, how: SentInput['sendMode']): SentInput => ({
    id,
    sendMode: how,
    sessionId: 'ses_a',
    text: id,
    mode: 'chat',
    permissionMode: 'ask',
    chosen: true,
    state: 'sending',
    attached: [],
    key: 'k',
  })
  const list = items(done, [answer], { sent: [entry('trn_n', 'start'), entry('trn_q', 'queue')] })
  expect(list.at(-1)).toMatchObject({ kind: 'sent', entry: { id: 'trn_n' } })
  expect(list.filter((item) => item.kind === 'sent')).toHaveLength(1)
})

test('a turn that ended with a final report keeps it visible; one with an answer does not repeat it', () => {
  const finished = toolPart(at(6), 'Finalize', { output: { text: 'All is done.' } })
  const wordless = turnRow('trn_a', 10, { toolCalls: 3 })
  expect(kinds(items(wordless, [...process, finished]))).toEqual(['input', 'summary', 'part'])
  expect(kinds(items(done, [...process, answer, finished]))).toEqual(['input', 'summary', 'answer'])
})
