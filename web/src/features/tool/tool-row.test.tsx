import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type { ToolPart as WireTool } from '@/system/generated/contracts'
import { TOOL_STATES } from '@/system/generated/contracts'
import type { ToolPart } from '@/system/rows/model'
import { buildPosition, buildToolPart } from '../../../dev/rows'
import { CHINESE, createBlobReader, fillAs, NO_BLOBS, show } from '../../../dev/surfaces'
import { OpenedRows } from '../shared/opened-rows'
import { NamesProvider } from '../shared/surface'
import { ToolRow } from './tool-row'

const buildPart = (change: Partial<WireTool>) =>
  fillAs(
    'parts',
    buildToolPart(buildPosition('trn_a', 10, 2, 'cal_a'), 'Bash', { summary: 'make test', ...change }),
  ) as ToolPart

test.each(TOOL_STATES)('one row shows the call in the state %s (UI-08)', (state) => {
  const { update } = show(
    <ToolRow part={buildPart({ state: 'input-streaming', durationMs: 0 })} waiting={false} />,
  )
  update(<ToolRow part={buildPart({ state, durationMs: 0 })} waiting={false} />)
  expect(screen.getAllByRole('button', { name: /^Bash/ })).toHaveLength(1)
  expect(screen.getByText('make test')).toBeTruthy()
})

test('a running call shows its latest output as plain text, and folds when it is done (UI-04, SAFE-06)', () => {
  const output = { text: '\u001b[32mok\u001b[0m 1\nok 2' }
  const { update } = show(<ToolRow part={buildPart({ state: 'progress', output })} waiting={false} />)
  expect(screen.getByRole('group', { name: 'Output' }).textContent).toBe('ok 1\nok 2')
  update(
    <ToolRow part={buildPart({ state: 'output-available', output, durationMs: 1200 })} waiting={false} />,
  )
  expect(screen.queryByRole('group', { name: 'Output' })).toBeNull()
  expect(screen.getByText('1.2s')).toBeTruthy()
})

test('large output is a preview until the rest is loaded (UI-08)', async () => {
  const ref = { hash: 'h', size: 90_000 }
  const blobs = createBlobReader({ h: `head${'x'.repeat(90)}` })
  show(<ToolRow part={buildPart({ output: { text: 'head', ref } })} waiting={false} />, blobs)
  await userEvent.click(screen.getByRole('button', { name: /^Bash/ }))
  expect(screen.getByRole('group', { name: 'Output' }).textContent).toBe('head')
  expect(blobs.requested).toEqual([])
  await userEvent.click(screen.getByRole('button', { name: 'Load all' }))
  expect(screen.getByRole('group', { name: 'Output' }).textContent).toHaveLength(94)
  expect(screen.queryByRole('button', { name: 'Load all' })).toBeNull()
})

test('a call that a hook changed shows what ran and what the agent requested (SAFE-01)', async () => {
  const before = 'Original input, before the hook changed it'
  const row = { arguments: { text: '{"command":"ls -l"}' }, asked: { text: '{"command":"ls"}' } }
  const { update } = show(<ToolRow part={buildPart({ state: 'output-available', ...row })} waiting={false} />)
  await userEvent.click(screen.getByRole('button', { name: /^Bash/ }))
  expect(screen.getByRole('group', { name: 'Input' }).textContent).toContain('ls -l')
  expect(screen.getByRole('group', { name: before }).textContent).not.toContain('-l')
  update(
    <ToolRow part={buildPart({ state: 'output-available', arguments: row.arguments })} waiting={false} />,
  )
  expect(screen.queryByRole('group', { name: before })).toBeNull()
})

test('the error of a failed call stays visible (UI-08)', () => {
  const failed = buildPart({
    state: 'output-error',
    code: 'path_denied',
    message: '/etc/passwd is outside the folder.',
  })
  show(<ToolRow part={failed} waiting={false} />)
  expect(screen.getByText('/etc/passwd is outside the folder.')).toBeTruthy()
  expect(screen.getByText('Path not allowed')).toBeTruthy()
})

test('an unknown outcome reads unknown (UI-26)', () => {
  show(<ToolRow part={buildPart({ state: 'output-error', code: 'tool_lost' })} waiting={false} />)
  expect(screen.getByText('Outcome unknown')).toBeTruthy()
})

test('a call that waits for a decision reads waiting, not running', () => {
  show(<ToolRow part={buildPart({ state: 'input-available', durationMs: 0 })} waiting />)
  expect(screen.getByText('Waiting for approval')).toBeTruthy()
})

test('the details show input by name, changes and output', async () => {
  const changes = [
    { path: 'src/a.py', kind: 'modified', added: 3, removed: 1, diff: { text: 'no hunks here' } },
  ] as const
  show(
    <ToolRow
      part={buildPart({ arguments: { text: '{"command":"make test"}' }, changes, output: { text: 'done' } })}
      waiting={false}
    />,
  )
  await userEvent.click(screen.getByRole('button', { name: /^Bash/ }))
  expect(screen.getByRole('group', { name: 'Input' }).textContent).toBe('command: make test')
  expect(within(screen.getByRole('list')).getByText('src/a.py')).toBeTruthy()
  expect(screen.getByRole('group', { name: 'Diff of src/a.py' }).textContent).toBe('no hunks here')
})

test('a call of a file tool without changes shows that', () => {
  const { update } = show(<ToolRow part={buildPart({ tool: 'Write' })} waiting={false} />)
  expect(screen.getByRole('button').textContent).toContain('no change')
  update(<ToolRow part={buildPart({ tool: 'Read' })} waiting={false} />)
  expect(screen.getByRole('button').textContent).not.toContain('no change')
})

test('a failed command shows its exit code in the page’s language', () => {
  const row = {
    state: 'output-error',
    code: 'tool_failed',
    exitCode: 3,
    message: 'It ended with 3.',
  } as const
  show(<ToolRow part={buildPart(row)} waiting={false} />, NO_BLOBS, CHINESE)
  expect(screen.getByText('退出码 3')).toBeTruthy()
  expect(screen.getByText('命令以退出码 3 结束。')).toBeTruthy()
})

test('an erased text reads erased', async () => {
  show(<ToolRow part={buildPart({ output: { erased: true } })} waiting={false} />)
  await userEvent.click(screen.getByRole('button', { name: /^Bash/ }))
  expect(screen.getByText('This text was erased.')).toBeTruthy()
})

test('an opened row is still open when it scrolls back into view (UI-31)', async () => {
  const renderRow = (isVisible: boolean) => (
    <OpenedRows>{isVisible && <ToolRow part={buildPart({})} waiting={false} />}</OpenedRows>
  )
  const { update } = show(renderRow(true))
  await userEvent.click(screen.getByRole('button', { name: /^Bash/ }))
  update(renderRow(false))
  update(renderRow(true))
  expect(screen.getByRole('button', { name: /^Bash/ }).getAttribute('aria-expanded')).toBe('true')
})

test('a call that a person rejected is not shown as a failure of the tool (CTL-05)', () => {
  show(
    <ToolRow
      part={buildPart({ state: 'output-error', code: 'person_denied', message: 'no', startedAt: 0 })}
      waiting={false}
    />,
  )
  expect(screen.getByText('Rejected').className).not.toContain('text-bad')
})

const buildCall = (tool: string, fields: object, answer: object, change: Partial<WireTool> = {}) =>
  fillAs(
    'parts',
    buildToolPart(buildPosition('trn_a', 10, 2, 'cal_a'), tool, {
      summary: `${tool} as the server says it`,
      arguments: { text: JSON.stringify(fields) },
      output: { text: JSON.stringify(answer) },
      ...change,
    }),
  ) as ToolPart

test.each([
  [
    'spawn_subagent',
    { agent: 'worker', title: 'Read it' },
    { agentId: 'worker-1' },
    'Started worker-1',
    'Read it',
  ],
  [
    'wait_subagents',
    {},
    { ended: [{ agent_id: 'a' }, { agent_id: 'b' }], timed_out: false },
    'Received reports from a, b',
    '',
  ],
  ['wait_subagents', {}, { ended: [], timedOut: true }, 'Timed out waiting for agents', ''],
  ['send_handoff', { to: 'database', message: 'It is slow' }, {}, 'Handed off to database', 'It is slow'],
  ['send_message', { to: ['a', 'b'], text: 'Hello' }, {}, 'Sent a message to a, b', 'Hello'],
  ['merge_subagent', { agent: 'worker-1' }, {}, 'Merged the work of worker-1', ''],
  ['create_task', { title: 'Notes', assignee: 'maker' }, {}, 'Created a task for maker', 'Notes'],
  ['update_task', { task_id: 'tsk_1', status: 'done' }, {}, 'Moved to Done', 'Write the notes'],
  // The format of earlier versions.
  ['update_task', { taskId: 'tsk_1', status: 'done' }, {}, 'Moved to Done', 'Write the notes'],
  ['submit_verdict', { agent: 'a', verdict: 'passed', summary: 'Good' }, {}, 'Passed the work of a', 'Good'],
])('a team call reads as a sentence: %s', (tool, fields, answer, action, message) => {
  const names = { nameAgent: (id: string) => id, nameTask: () => 'Write the notes' }
  show(
    <NamesProvider value={names}>
      <ToolRow part={buildCall(tool, fields, answer)} waiting={false} />
    </NamesProvider>,
  )
  expect(screen.getByText(action)).toBeTruthy()
  if (message !== '') expect(screen.getByText(message)).toBeTruthy()
  expect(screen.queryByText(new RegExp(tool))).toBeNull()
})

test('the intention of a team call is shown before its answer, in the page’s language', () => {
  const part = buildCall('spawn_subagent', { agent: 'worker' }, {}, { state: 'running', output: {} })
  const { unmount } = show(<ToolRow part={part} waiting={false} />)
  expect(screen.getByText('Starting an agent')).toBeTruthy()
  unmount()
  show(
    <ToolRow part={buildCall('spawn_subagent', { agent: 'w' }, { agentId: 'w-1' })} waiting={false} />,
    NO_BLOBS,
    CHINESE,
  )
  expect(screen.getByText('启动了 w-1')).toBeTruthy()
})

test('a plan shows its steps while it is streaming (CTX-03)', () => {
  const buildPlan = (text: string) =>
    fillAs(
      'parts',
      buildToolPart(buildPosition('trn_a', 10, 2, 'cal_p'), 'propose_plan', {
        state: 'input-streaming',
        arguments: { text },
      }),
    ) as ToolPart
  const { update } = show(<ToolRow part={buildPlan('{"summary":"Mend it","steps":["lo')} waiting={false} />)
  expect(screen.getByText('Mend it')).toBeTruthy()
  update(<ToolRow part={buildPlan('{"summary":"Mend it","steps":["look","me')} waiting={false} />)
  const steps = within(screen.getByRole('list', { name: 'Plan' })).getAllByRole('listitem')
  expect(steps.map((step) => step.textContent)).toEqual(['look', 'me'])
})
