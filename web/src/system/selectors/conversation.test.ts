import { expect, test } from 'vitest'
import {
  buildPosition,
  buildReasoningPart,
  buildTextPart,
  buildToolPart,
  buildTurnRow,
  upsert,
} from '../../../dev/rows'
import type { AnyPart, TurnRow as WireTurn } from '../generated/contracts'
import { RowStore } from '../rows/row-store'
import type { SentInput } from '../stores/outbox'
import { buildConversation, type ConversationOptions } from './conversation'

const atStep = (step: number) => buildPosition('trn_a', 10, step)

function buildItems(turn: WireTurn, parts: readonly AnyPart[], choices: Partial<ConversationOptions> = {}) {
  const store = new RowStore()
  store.apply([upsert('turns', turn), ...parts.map((part) => upsert('parts', part))])
  return buildConversation(store.getPanel('turns').list(), {
    opened: new Set(),
    sent: [],
    getParts: (turnId) => store.getPanel('parts').listTurn(turnId),
    hasParts: () => true,
    ...choices,
  })
}

const listKinds = (list: ReturnType<typeof buildItems>) => list.map((item) => item.kind)
const process = [
  buildReasoningPart(atStep(1), 'thinking'),
  buildToolPart(atStep(2), 'Read'),
  buildTextPart(atStep(3), 'so far', { commentary: true }),
  buildToolPart(atStep(4), 'Edit', { changes: [{ path: 'a', kind: 'modified', added: 3, removed: 1 }] }),
]
const answer = buildTextPart(atStep(5), 'the answer')
const done = buildTurnRow('trn_a', 10, { toolCalls: 2, filesChanged: 1, finalParts: ['run_trn_a.5'] })

test('a running turn is open, in the order of its parts (UI-03, UI-04)', () => {
  const list = buildItems(buildTurnRow('trn_a', 10, { state: 'running' }), [...process].reverse())
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
  const list = buildItems(buildTurnRow('trn_a', 10, { state: 'running' }), [
    buildTextPart(atStep(1), 'Th', { state: 'streaming' }),
  ])
  expect(listKinds(list)).toEqual(['input', 'part'])
})

test('a completed turn folds into one summary, and the answer stays (UI-04, UI-06)', () => {
  const list = buildItems(done, [...process, answer])
  expect(listKinds(list)).toEqual(['input', 'summary', 'answer'])
  expect(list[1]).toMatchObject({
    open: false,
    activity: {
      tools: 2,
      files: 1,
      added: 3,
      removed: 1,
      failedTools: 0,
      rejectedTools: 0,
      duration: 12_000,
    },
  })
})

test('a rejected call differs from a failed one', () => {
  const failed = buildToolPart(atStep(1), 'Bash', { state: 'output-error', code: 'tool_failed' })
  const refused = buildToolPart(atStep(2), 'Bash', {
    state: 'output-error',
    code: 'person_denied',
    startedAt: 0,
  })
  expect(buildItems(done, [failed, refused, answer])[1]).toMatchObject({
    activity: { failedTools: 1, rejectedTools: 1 },
  })
})

test('an opened turn shows its process, with commentary in place and the answer once (UI-04, UI-05)', () => {
  const list = buildItems(done, [...process, answer], { opened: new Set(['trn_a']) })
  expect(listKinds(list)).toEqual(['input', 'summary', 'part', 'part', 'part', 'part', 'answer'])
})

test('a part keeps its key when its turn ends, so its row keeps its position', () => {
  const running = buildItems(buildTurnRow('trn_a', 10, { state: 'running' }), [answer])
  const ended = buildItems(done, [answer])
  expect(running[1]?.key).toBe(ended[1]?.key)
})

test('an interrupted turn keeps its text and shows how it ended', () => {
  const turn = buildTurnRow('trn_a', 10, { state: 'interrupted', code: 'person' })
  expect(listKinds(buildItems(turn, [buildTextPart(atStep(1), 'half', { state: 'interrupted' })]))).toEqual([
    'input',
    'answer',
    'outcome',
  ])
})

test('a failed turn shows the error that ended it once, outside the fold', () => {
  const buildError = (step: number, message: string): AnyPart => ({
    kind: 'error',
    ...atStep(step),
    code: 'internal',
    message,
  })
  const list = buildItems(buildTurnRow('trn_a', 10, { state: 'failed' }), [
    buildError(1, 'first'),
    buildError(9, 'last'),
  ])
  expect(listKinds(list)).toEqual(['input', 'summary', 'outcome'])
  expect(list[2]).toMatchObject({ error: { message: 'last' } })
})

test('a rejected steer is not folded, and follows the answer (UI-11)', () => {
  const steer: AnyPart = {
    kind: 'user_text',
    ...atStep(3),
    steerId: 'str_a',
    outcome: 'rejected',
    reason: 'turn_completed',
    content: { text: 'and this' },
  }
  expect(listKinds(buildItems(done, [...process, steer, answer]))).toEqual([
    'input',
    'summary',
    'answer',
    'part',
  ])
})

test('a turn without parts shows that they are not loaded (UI-26)', () => {
  expect(listKinds(buildItems(done, [], { hasParts: () => false }))).toEqual(['input', 'unloaded'])
})

test('queued and removed turns are not part of the conversation', () => {
  expect(buildItems(buildTurnRow('trn_a', 10, { state: 'queued' }), [])).toEqual([])
  expect(buildItems(buildTurnRow('trn_a', 10, { state: 'removed' }), [])).toEqual([])
})

test('sent input is at the end until its fact arrives; queued input is not in the conversation (UI-02)', () => {
  const buildEntry = (id: string, how: SentInput['sendMode']): SentInput => ({
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
  const list = buildItems(done, [answer], {
    sent: [buildEntry('trn_n', 'start'), buildEntry('trn_q', 'queue')],
  })
  expect(list.at(-1)).toMatchObject({ kind: 'sent', entry: { id: 'trn_n' } })
  expect(list.filter((item) => item.kind === 'sent')).toHaveLength(1)
})

test('a turn that ended with a final report keeps it visible; one with an answer does not repeat it', () => {
  const finished = buildToolPart(atStep(6), 'Finalize', { output: { text: 'All is done.' } })
  const wordless = buildTurnRow('trn_a', 10, { toolCalls: 3 })
  expect(listKinds(buildItems(wordless, [...process, finished]))).toEqual(['input', 'summary', 'part'])
  expect(listKinds(buildItems(done, [...process, answer, finished]))).toEqual(['input', 'summary', 'answer'])
})
