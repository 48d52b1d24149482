import { act, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ActionPart, NoticePart, ReasoningPart, SteerPart, TextPart } from '@/system/rows/model'
import { summarizeActivity } from '@/system/selectors/activity'
import { buildConversation } from '@/system/selectors/conversation'
import {
  buildPosition,
  buildReasoningPart,
  buildTextPart,
  buildToolPart,
  buildTurnRow,
  START,
} from '../../../dev/rows'
import { createBlobReader, fillAs, show } from '../../../dev/surfaces'
import { Answer } from './answer'
import type { ConversationHandlers } from './item-view'
import { ItemView } from './item-view'
import { Reasoning } from './reasoning'
import { SteerLine } from './steer-line'
import { SummaryRow } from './summary-row'
import { ActionLine, OutcomeLine } from './turn-lines'

const at = buildPosition('trn_a', 10, 1)
const HOSTILE = `Hello <img src=x onerror="window.hit = 1"> <script>window.hit = 1</script>

[click](javascript:window.hit=1) ![pixel](https://evil.example/p.png) [ok](https://example.org)`

test('hostile Markdown runs no script and loads nothing (SAFE-06)', async () => {
  show(<Answer part={fillAs('parts', buildTextPart(at, HOSTILE)) as TextPart} last onInspect={() => {}} />)
  const link = await screen.findByRole('link', { name: 'ok' })
  expect(link.getAttribute('rel')).toContain('noopener')
  expect(document.querySelectorAll('img, script, iframe, style')).toHaveLength(0)
  expect(document.querySelector('[href^="javascript"]')).toBeNull()
  expect(screen.getByRole('link', { name: 'pixel' }).getAttribute('href')).toBe('https://evil.example/p.png')
  expect((window as { hit?: number }).hit).toBeUndefined()
})

test('an answer with only a preview in its row is loaded automatically', async () => {
  const content = { text: 'The head', ref: { hash: 'h', size: 30_000 } }
  const blobs = createBlobReader({ h: 'The head and the rest' })
  show(
    <Answer
      part={fillAs('parts', buildTextPart(at, '', { content })) as TextPart}
      last
      onInspect={() => {}}
    />,
    blobs,
  )
  expect(await screen.findByText('The head and the rest')).toBeTruthy()
  expect(blobs.requested).toHaveLength(1)
})

test('a revised and an interrupted answer are marked (UI-05)', async () => {
  const part = fillAs('parts', buildTextPart(at, 'half', { state: 'interrupted', revised: true })) as TextPart
  show(<Answer part={part} last onInspect={() => {}} />)
  expect(screen.getByText('Interrupted')).toBeTruthy()
  expect(screen.getByText('The final text differs from the streamed text')).toBeTruthy()
})

test('reasoning is open while it is streaming and one line when it is done (UI-04)', async () => {
  const buildReasoning = (state: 'streaming' | 'final') =>
    fillAs('parts', buildReasoningPart(at, 'First this.\nThen that.', { state })) as ReasoningPart
  const { update } = show(<Reasoning part={buildReasoning('streaming')} />)
  expect(screen.getByText(/Then that/)).toBeTruthy()
  update(<Reasoning part={buildReasoning('final')} />)
  expect(screen.queryByText(/Then that/)).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: /Reasoned/ }))
  expect(screen.getByText(/Then that/)).toBeTruthy()
})

test('a rejected steer keeps its text, shows the reason and offers to send it (UI-11)', async () => {
  const part = fillAs('parts', {
    kind: 'user_text',
    ...at,
    steerId: 'str_a',
    outcome: 'rejected',
    reason: 'turn_completed',
    content: { text: 'Mind the tests' },
  }) as SteerPart
  const onSendAsTurn = vi.fn()
  const onReuse = vi.fn()
  show(<SteerLine part={part} onSendAsTurn={onSendAsTurn} onReuse={onReuse} />)
  expect(screen.getByText('The turn ended first.')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Send as new turn' }))
  await userEvent.click(screen.getByRole('button', { name: 'Reuse this message' }))
  expect(onSendAsTurn).toHaveBeenCalledWith('Mind the tests')
  expect(onReuse).toHaveBeenCalledWith('Mind the tests')
})

test('a failed turn shows the failure and what to do, and restores the input', async () => {
  const onReuse = vi.fn()
  const turn = fillAs(
    'turns',
    buildTurnRow('trn_a', 10, { state: 'failed', code: 'model_auth', message: 'HTTP 401', hint: 'Look.' }),
  )
  show(<OutcomeLine turn={turn} error={null} onReuse={onReuse} />)
  expect(screen.getByText('API key rejected')).toBeTruthy()
  expect(screen.getByText('HTTP 401')).toBeTruthy()
  expect(screen.getByText('Check the provider’s API key.')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Reuse this message' }))
  expect(onReuse).toHaveBeenCalledWith('What is in this folder?')
})

test('a turn without parts requests them when it is visible, and shows a failure (UI-26)', async () => {
  const onNeedParts = vi.fn()
  const handlers = { onNeedParts } as unknown as ConversationHandlers
  const turn = fillAs('turns', buildTurnRow('trn_a', 10))
  const item = { kind: 'unloaded', key: 'k', turn } as const
  const renderView = (failed: string[]) => (
    <ItemView item={item} handlers={handlers} waiting={new Set()} failedParts={new Set(failed)} />
  )
  const { update } = show(renderView([]))
  expect(onNeedParts).toHaveBeenCalledExactlyOnceWith('trn_a')
  update(renderView(['trn_a']))
  await userEvent.click(screen.getByRole('button', { name: 'Retry' }))
  expect(onNeedParts).toHaveBeenCalledTimes(2)
})

test('a hint without a text of the page is shown as the server sent it', () => {
  const row = buildTurnRow('trn_a', 10, { state: 'failed', code: 'of_tomorrow', hint: 'Look there.' })
  show(<OutcomeLine turn={fillAs('turns', row)} error={null} onReuse={vi.fn()} />)
  expect(screen.getByText('Look there.')).toBeTruthy()
})

test('a rejection by a person is a quiet line with the reason and the waiting time (UI-09, CTL-05)', () => {
  const part = fillAs('parts', {
    kind: 'action_required',
    ...at,
    actionId: 'act_a',
    actionType: 'tool_approval',
    tool: 'Write',
    prompt: '',
    outcome: 'rejected',
    actor: 'person:browser',
    reason: 'not here',
    settledAt: at.at + 65_000_000,
  }) as ActionPart
  const { container } = show(<ActionLine part={part} />)
  expect(container.textContent).toBe('Rejected by youWriteafter 1m 5snot here')
  expect(container.innerHTML).not.toContain('text-bad')
})

test('a rejection because no person was present is not shown as yours', () => {
  const action = fillAs('parts', {
    kind: 'action_required',
    ...at,
    actionId: 'act_a',
    actionType: 'tool_approval',
    tool: 'Write',
    prompt: '',
    outcome: 'rejected',
    actor: 'person:cli',
    reason: 'No person was present.',
    settledAt: at.at,
  }) as ActionPart
  const call = buildToolPart(buildPosition('trn_a', 10, 2, 'cal_a'), 'Write', {
    actionId: 'act_a',
    state: 'output-error',
    code: 'nobody_there',
  })
  const parts = [fillAs('parts', call), action]
  const turn = fillAs('turns', buildTurnRow('trn_a', 10, { state: 'running' }))
  const items = buildConversation([turn], {
    opened: new Set(),
    sent: [],
    getParts: () => parts,
    hasParts: () => true,
  })
  const item = items.find((item) => item.kind === 'part' && item.part === action)
  expect(item).toMatchObject({ unattended: true })
  const { container } = show(<ActionLine part={action} unattended />)
  expect(container.textContent).toBe('Rejected WriteNo person was present.')
})

test('the answer of a policy names the policy', () => {
  const part = fillAs('parts', {
    kind: 'action_required',
    ...at,
    actionId: 'act_a',
    actionType: 'tool_approval',
    tool: 'Write',
    prompt: '',
    outcome: 'rejected',
    actor: 'policy:opa/main',
    settledAt: at.at,
  }) as ActionPart
  const { container } = show(<ActionLine part={part} />)
  expect(container.textContent).toBe('Rejected Writeby policy opa/main')
})

test('the wait for a person is shown separately from the work', () => {
  const turn = fillAs('turns', buildTurnRow('trn_a', 10, { waitedUs: 9_000_000, toolCalls: 1 }))
  show(<SummaryRow activity={summarizeActivity(turn, [])} open={false} onToggle={vi.fn()} />)
  expect(screen.getByText('1 tool call · 3s · waited 9s for you')).toBeTruthy()
})

test('an imported turn, whose facts have one time, shows no duration', () => {
  const turn = fillAs('turns', buildTurnRow('trn_a', 10, { toolCalls: 1 }))
  const imported = { ...turn, endedAt: turn.startedAt }
  show(<SummaryRow activity={summarizeActivity(imported, [])} open={false} onToggle={vi.fn()} />)
  expect(screen.getByRole('button').textContent).toBe('1 tool call')
})

test('the facts of a turn line are separated', () => {
  const turn = fillAs('turns', buildTurnRow('trn_a', 10, { waitedUs: 9_000_000, toolCalls: 3 }))
  const activity = { ...summarizeActivity(turn, []), failedTools: 1, rejectedTools: 2 }
  show(<SummaryRow activity={activity} open={false} onToggle={vi.fn()} />)
  expect(screen.getByRole('button').textContent).toBe(
    '3 tool calls · 3s · waited 9s for you · 1 failed · 2 rejected',
  )
})

test('a retry counts down while its turn is running and shows no hint; later it shows the wait', () => {
  vi.useFakeTimers({ now: START / 1000 })
  onTestFinished(() => void vi.useRealTimers())
  const part = fillAs('parts', {
    kind: 'runtime_status',
    ...at,
    at: START,
    code: 'model_unavailable',
    message: 'Overloaded',
    retryInMs: 12_000,
    attempt: 3,
  }) as NoticePart
  const buildItem = (state: 'running' | 'completed') => {
    const turn = fillAs('turns', buildTurnRow('trn_a', 10, { state }))
    const item = { kind: 'part', key: 'a', turn, part, live: false, unattended: false } as const
    return (
      <ItemView
        item={item}
        handlers={{} as ConversationHandlers}
        waiting={new Set()}
        failedParts={new Set()}
      />
    )
  }
  const { container, update } = show(buildItem('running'))
  expect(container.textContent).toBe('Model unavailable · Retrying in 12s, attempt 3')
  act(() => void vi.advanceTimersByTime(5000))
  expect(container.textContent).toContain('Retrying in 7s, attempt 3')
  update(buildItem('completed'))
  expect(container.textContent).toBe('Model unavailable · Retried after 12s, attempt 3')
})
