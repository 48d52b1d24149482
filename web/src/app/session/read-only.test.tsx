import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeEach, expect, test } from 'vitest'
import { clearStorage, findComposer, openPage } from '../../../dev/app-page'
import { buildSessionRow, buildStatusRow, buildTurnRow, SESSION, upsert } from '../../../dev/rows'
import { buildTeamScenario } from '../../../dev/scenarios/team-scenarios'

beforeEach(clearStorage)

const IMPORTED = [
  upsert('session', buildSessionRow({ source: 'codex' })),
  upsert('status', buildStatusRow()),
  upsert(
    'turns',
    buildTurnRow('trn_a', 10, { state: 'interrupted', code: 'person', input: { text: 'Tidy up' } }),
  ),
]

test('a read-only session leads to a new one in its folder, with an empty draft', async () => {
  await openPage({ sessions: { [SESSION]: IMPORTED } }, `#/s/${SESSION}`)
  const here = await screen.findByRole('button', { name: 'New session here' })
  expect(await findComposer()).toHaveProperty('disabled', true)
  expect(screen.queryByRole('button', { name: 'Send' })).toBeNull()
  expect(screen.queryByRole('button', { name: 'Reuse this message' })).toBeNull()
  await userEvent.click(here)
  await waitFor(async () => expect(await findComposer()).toHaveProperty('disabled', false))
  expect(await findComposer()).toHaveProperty('value', '')
  expect(screen.getByText(/An agent works in atlas/)).toBeTruthy()
})

test('a read-only session offers no action that it would refuse', async () => {
  await openPage({ sessions: { [SESSION]: IMPORTED } }, `#/s/${SESSION}`)
  await userEvent.click(await screen.findByRole('button', { name: 'Show details' }))
  expect(await screen.findByRole('tabpanel', { name: 'Turn' })).toBeTruthy()
  expect(screen.queryByRole('tab', { name: 'Team' })).toBeNull()
  await userEvent.click(screen.getByRole('tab', { name: 'Artifacts' }))
  expect(await screen.findByText('No artifacts yet.')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'New artifact' })).toBeNull()
  await userEvent.click(screen.getByRole('tab', { name: 'Context' }))
  expect(await screen.findByText('Context window')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Compact now' })).toBeNull()
  expect(screen.queryByRole('heading', { name: 'Pinned' })).toBeNull()
  await userEvent.keyboard('{Control>}k{/Control}')
  const palette = within(await screen.findByRole('dialog', { hidden: true }))
  expect(await palette.findByText('Export evidence')).toBeTruthy()
  expect(palette.queryByText('Add agent to session')).toBeNull()
})

test('agents of a read-only session can be inspected but receive no input', async () => {
  const own = buildTeamScenario()
  const rows = [...(own.sessions[SESSION] ?? []), upsert('session', buildSessionRow({ source: 'codex' }))]
  await openPage({ ...own, sessions: { [SESSION]: rows } }, `#/s/${SESSION}`)
  const roster = within(await screen.findByRole('list', { name: 'Agents' }))
  expect(roster.queryAllByRole('button', { name: /^Actions for/ })).toEqual([])
  expect(screen.queryByRole('button', { name: 'Add agent' })).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: /^Board/ }))
  expect(await screen.findByRole('region', { name: 'Board' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'New task' })).toBeNull()
})
