import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import type { ToolPart } from '@/system/rows/model'
import { buildPosition, buildToolPart, buildTurnRow } from '../../../dev/rows'
import { fillAs, show } from '../../../dev/surfaces'
import { PermissionChecks } from './permission-checks'
import { TurnDetails } from './turn-details'

test('the details of a turn are in tabs that the keyboard can select (UI-31)', async () => {
  const turn = fillAs('turns', buildTurnRow('trn_a', 10, { waitedUs: 2_000_000 }))
  const parts = [fillAs('parts', buildToolPart(buildPosition('trn_a', 10, 2, 'cal_a'), 'Bash'))]
  show(<TurnDetails turn={turn} parts={parts} status={null} sessionId="ses_a" />)
  expect(screen.getByRole('tabpanel', { name: 'Turn' }).textContent).toContain('Duration10sWaited for you2s')
  screen.getByRole('tab', { name: 'Turn' }).focus()
  await userEvent.keyboard('{ArrowRight}')
  expect(screen.getByRole('tabpanel', { name: 'Permissions' }).textContent).toContain('inside the folder')
})

test('token counts that the provider did not report read unknown once', () => {
  const buildTurn = (inputTokens: number | null) =>
    fillAs('turns', buildTurnRow('trn_a', 10, { inputTokens, outputTokens: null }))
  const props = { parts: [], status: null, sessionId: 'ses_a' }
  const { update } = show(<TurnDetails {...props} turn={buildTurn(null)} />)
  expect(screen.getByRole('tabpanel').textContent).toContain('TokensUnknownFacts')
  update(<TurnDetails {...props} turn={buildTurn(1200)} />)
  expect(screen.getByRole('tabpanel').textContent).toContain('Tokens1,200 in · unknown out')
})

test('without a turn there are no tabs to choose', () => {
  show(<TurnDetails turn={null} parts={[]} status={null} sessionId="ses_a" />)
  expect(screen.getByText('No turn selected.')).toBeTruthy()
  expect(screen.queryByRole('tab')).toBeNull()
})

test('a chosen tab stays chosen when the first turn and the team are read (UI-31)', async () => {
  const buildTabs = (id: string) => [{ id, label: id, content: id }]
  const props = {
    parts: [],
    status: null,
    sessionId: 'ses_a',
    last: [...buildTabs('Artifacts'), ...buildTabs('Context')],
  }
  const { update } = show(<TurnDetails {...props} turn={null} />)
  await userEvent.click(screen.getByRole('tab', { name: 'Context' }))
  update(<TurnDetails {...props} turn={fillAs('turns', buildTurnRow('trn_a', 10))} />)
  expect(screen.getByRole('tabpanel').textContent).toBe('Context')
  update(
    <TurnDetails {...props} turn={fillAs('turns', buildTurnRow('trn_a', 10))} first={buildTabs('Team')} />,
  )
  expect(screen.getByRole('tabpanel').textContent).toBe('Context')
})

test('until the person chooses, the first tab is selected, even if another is inserted before it', () => {
  const props = { parts: [], status: null, sessionId: 'ses_a' }
  const last = [{ id: 'artifacts', label: 'Artifacts', content: 'None yet' }]
  const { update } = show(<TurnDetails {...props} turn={null} last={last} />)
  expect(screen.getByRole('tabpanel', { name: 'Artifacts' })).toBeTruthy()
  update(<TurnDetails {...props} turn={fillAs('turns', buildTurnRow('trn_a', 10))} last={last} />)
  expect(screen.getByRole('tabpanel', { name: 'Turn' })).toBeTruthy()
})

test.each([
  ['a call that ran', { state: 'output-available', startedAt: 5 }, 'Allowed'],
  ['a call that started and failed', { state: 'output-error', startedAt: 5 }, 'Allowed'],
  ['a call that was refused', { state: 'output-error', startedAt: 0 }, 'Rejected'],
  ['a call whose turn was stopped first', { state: 'cancelled', startedAt: 0 }, 'Not run'],
  ['a call that the gate denied', { state: 'output-error', startedAt: 0, verdict: 'deny' }, 'Denied'],
] as const)('%s is shown under Permissions, whatever the first verdict (M6)', async (_, change, reads) => {
  const part = buildToolPart(buildPosition('trn_a', 10, 2, 'cal_a'), 'Bash', {
    verdict: 'allow',
    checks: [],
    ...change,
  })
  show(<PermissionChecks tools={[fillAs('parts', part) as ToolPart]} />)
  expect(screen.getAllByRole('listitem')[0]?.querySelector('p')?.textContent).toMatch(new RegExp(`${reads}$`))
})
