import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type * as wire from '@/system/generated/contracts'
import type { Part } from '@/system/rows/model'
import { buildPosition } from '../../../dev/rows'
import { CHINESE, fillAs, NO_BLOBS, show } from '../../../dev/surfaces'
import { OpenedRows } from '../shared/opened-rows'
import { NamesProvider } from '../shared/surface'
import { HandoffLine } from './handoff-line'
import { Plan } from './plan'
import { MessageLine, RemoteLine, WorkerLine } from './received-lines'

function buildPart<K extends Part['kind']>(row: wire.PanelRows['parts'] & { readonly kind: K }) {
  return fillAs('parts', row) as Extract<Part, { kind: K }>
}

const at = buildPosition('trn_a', 10, 1)
const names = {
  nameAgent: (id: string) => (id === 'agt_w' ? 'worker-1' : id),
  nameTask: () => 'Read the lexer',
}

test('the end of a subagent is set apart from the person’s and the lead’s text (UI-16)', async () => {
  const row = buildPart({
    kind: 'worker_notification',
    ...at,
    agentId: 'agt_w',
    taskId: 'tsk_1',
    status: 'failed',
    summary: 'The provider refused.',
  })
  show(
    <NamesProvider value={names}>
      <WorkerLine part={row} />
    </NamesProvider>,
  )
  const line = screen.getByRole('button', { name: /worker-1 reported/ })
  expect(within(line).getByText('Failed')).toBeTruthy()
  expect(within(line).getByText('The provider refused.')).toBeTruthy()
  await userEvent.click(line)
  expect(screen.getByText('Task: Read the lexer')).toBeTruthy()
})

test('a handoff shows source, target and outcome', () => {
  const buildRow = (change: Partial<wire.HandoffPart>) =>
    buildPart({
      kind: 'agent_handoff',
      ...at,
      handoffId: 'hnd_1',
      source: 'lead',
      target: 'database',
      message: 'It is yours.',
      ...change,
    })
  const { update } = show(<HandoffLine part={buildRow({})} />)
  expect(screen.getByText('lead handed off to database')).toBeTruthy()
  update(<HandoffLine part={buildRow({ news: 'rejected', message: 'No diff yet.' })} />)
  expect(screen.getByText('Rejected')).toBeTruthy()
  expect(screen.getByText('No diff yet.')).toBeTruthy()
})

test('a remote agent is shown as it reported itself (UI-23)', async () => {
  const row = buildPart({
    kind: 'remote_agent_status',
    ...at,
    agentId: 'linter',
    remoteTaskId: 't1',
    taskState: 'input_required',
    message: { text: 'Which branch?' },
    artifacts: ['report.md'],
  })
  show(<RemoteLine part={row} />, NO_BLOBS, CHINESE)
  expect(screen.getByText('需要输入')).toBeTruthy()
  await userEvent.click(screen.getByRole('button'))
  expect(screen.getByText('已交付：report.md')).toBeTruthy()
})

test('a plan is open while it is in progress, and one line when it is done (UI-04)', async () => {
  const steps = [
    { content: 'Read the code', status: 'completed' },
    { content: 'Change it', status: 'in_progress' },
    { content: 'Test it', status: 'pending' },
  ] as const
  const buildRow = (state: wire.PlanPart['state']) => buildPart({ kind: 'plan', ...at, state, steps })
  const { unmount } = show(
    <OpenedRows>
      <Plan part={buildRow('streaming')} />
    </OpenedRows>,
  )
  const stepItems = within(screen.getByRole('list', { name: 'Plan' })).getAllByRole('listitem')
  expect(stepItems.map((step) => step.textContent)).toEqual([
    'Read the code done',
    'Change it in progress',
    'Test it to do',
  ])
  unmount()
  show(
    <OpenedRows>
      <Plan part={buildRow('final')} />
    </OpenedRows>,
  )
  expect(screen.queryByRole('list')).toBeNull()
  expect(screen.getByText('1 of 3 done')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: /Plan/ }))
  expect(screen.getByRole('list', { name: 'Plan' })).toBeTruthy()
})

test('another agent’s message is one line until it is opened, and is not attributed to others (UI-16)', async () => {
  const buildRow = (code: string) =>
    buildPart({ kind: 'runtime_status', ...at, code, agentId: 'agt_w', message: 'Only two tables.' })
  const { update } = show(
    <NamesProvider value={names}>
      <MessageLine part={buildRow('agent_message')} />
    </NamesProvider>,
  )
  expect(screen.getByRole('button', { name: /^Message from worker-1 ?Only two tables\.$/ })).toBeTruthy()
  update(
    <NamesProvider value={names}>
      <MessageLine part={buildRow('review_requested')} />
    </NamesProvider>,
  )
  expect(screen.getByText('worker-1 requested a review')).toBeTruthy()
})
