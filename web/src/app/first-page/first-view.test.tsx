import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeEach, expect, test } from 'vitest'
import { clearStorage, findComposer, openPage } from '../../../dev/app-page'
import { type FakeServer, RefusedAnswer } from '../../../dev/fake-server'
import { buildCardRow, buildWorkspaceRow, SESSION, upsert } from '../../../dev/rows'

beforeEach(clearStorage)

const findSubmission = (server: FakeServer) =>
  server.requests.find(({ name }) => name === 'submit_turn')?.body

test('the first page names its folder, offers three ways to start, and opens a past session', async () => {
  await openPage({})
  expect(await screen.findByText(/An agent works in atlas/)).toBeTruthy()
  for (const name of ['Model', 'Try the sample', 'Recent sessions']) {
    expect(screen.getByRole('heading', { name })).toBeTruthy()
  }
  const past = screen.getByRole('heading', { name: 'Recent sessions' }).parentElement ?? document.body
  await userEvent.click(await within(past).findByRole('button', { name: /Fix the failing parser test/ }))
  expect(await screen.findByRole('heading', { level: 2, name: 'Fix the failing parser test' })).toBeTruthy()
  expect(window.location.hash).toBe(`#/s/${SESSION}`)
})

test('past sessions precede the demos, which would push them off a narrow window', async () => {
  await openPage({ meta: { demos: [{ name: 'solo_run', title: 'Single agent' }] } })
  const demos = await screen.findByRole('heading', { name: 'Demos' })
  const offers = demos.closest('section')?.parentElement ?? document.body
  expect(
    within(offers)
      .getAllByRole('heading')
      .map((element) => element.textContent),
  ).toEqual(['Model', 'Try the sample', 'Recent sessions', 'Demos'])
})

test('a past session of another product is imported on the first page, and opened from there', async () => {
  const past = { source: 'codex', product: 'Codex', sourceId: 's1', folder: '/a', title: 'Once', changed: 1 }
  let imported = false
  const { server } = await openPage({
    answers: {
      list_past_sessions: () => ({ sessions: [{ ...past, sessionId: SESSION, imported }] }),
      import_past_session: () => {
        imported = true
        return { sessionId: SESSION, added: 2, known: 0 }
      },
    },
  })
  await userEvent.click(await screen.findByRole('button', { name: 'Import Once from Codex' }))
  await userEvent.click(await screen.findByRole('button', { name: 'Open Once' }))

  expect(window.location.hash).toBe(`#/s/${SESSION}`)
  const body = { workspaceId: 'wks_a', source: 'codex', sourceId: 's1' }
  expect(
    server.requests.filter(({ name }) => name === 'import_past_session').map(({ body }) => body),
  ).toEqual([body])
})

test('a session that grows during its import is not unread', async () => {
  const past = { source: 'codex', product: 'Codex', sourceId: 's1', folder: '/a', title: 'Once', changed: 1 }
  const { server } = await openPage({
    answers: { list_past_sessions: () => ({ sessions: [{ ...past, sessionId: 'ses_past' }] }) },
  })
  await screen.findByRole('button', { name: 'Import Once from Codex' })
  const grows = (order: number) =>
    server.send('wks_a', [
      upsert('sessions', buildCardRow('ses_past', order, { title: 'Past' })),
      upsert('sessions', buildCardRow(SESSION, order, { title: `Own ${order}` })),
    ])
  grows(950)
  await screen.findAllByText('Own 950')
  grows(960)
  await screen.findAllByText('Own 960')

  const unread = screen.getAllByRole('img', { name: 'Unread' })
  expect(unread.map((mark) => mark.closest('li')?.textContent)).toEqual([expect.stringContaining('Own 960')])
})

test('a slow search for past sessions shows a loading line, and a failed one its reason', async () => {
  let fail = () => {}
  const request = new Promise((resolve) => {
    fail = () => resolve(new RefusedAnswer(500, { code: 'internal', message: 'The disk is gone.' }))
  })
  await openPage({ answers: { list_past_sessions: () => request } })
  expect(await screen.findByText('Looking for Claude Code and Codex sessions…')).toBeTruthy()
  fail()
  expect(await screen.findByText('The disk is gone.')).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Retry' })).toBeTruthy()
})

test('products without past sessions are not mentioned', async () => {
  await openPage({})
  await screen.findByRole('heading', { name: 'Recent sessions' })
  await waitFor(() => expect(screen.queryByText(/Claude Code/)).toBeNull())
})

test('a new session starts in the mode of the settings, whether or not the page knows it', async () => {
  const { server } = await openPage({
    answers: { get_settings: () => ({ place: 'folder', holding: { usual_mode: 'planning' } }) },
  })
  const permission = await screen.findByRole('combobox', { name: 'Permission mode' })
  await waitFor(() => expect(permission).toHaveProperty('value', 'planning'))
  await userEvent.type(await findComposer(), 'Look{Enter}')
  await waitFor(() => expect(findSubmission(server)).toMatchObject({ text: 'Look', mode: 'chat' }))
  expect(findSubmission(server)).not.toHaveProperty('permissionMode')
})

test('a mode chosen for a new session is the mode that it starts in', async () => {
  const { server } = await openPage({ answers: { get_settings: () => new Promise(() => {}) } })
  await userEvent.selectOptions(
    await screen.findByRole('combobox', { name: 'Permission mode' }),
    'Full access',
  )
  await userEvent.type(await findComposer(), 'Look{Enter}')
  await waitFor(() => expect(findSubmission(server)).toMatchObject({ text: 'Look', permissionMode: 'full' }))
})

test('only the sample folder is labelled as the sample', async () => {
  const workspaces = [{ workspaceId: 'wks_a', path: '/home/ada/atlas', name: 'atlas', sample: false }]
  await openPage({ meta: { workspaces } })
  expect(await screen.findByRole('heading', { name: 'Suggestions' })).toBeTruthy()
  expect(screen.queryByText(/This is the sample folder/)).toBeNull()
})

test('each opened folder can be selected, and one entry leads back to the sample', async () => {
  const workspaces = [
    { workspaceId: 'wks_s', path: '/opt/callboard/sample', name: 'sample', sample: true },
    { workspaceId: 'wks_a', path: '/home/ada/atlas', name: 'atlas', sample: false },
  ]
  await openPage({ meta: { workspaces } }, '#/w/wks_a')
  const folder = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Folder' })
  expect(folder.value).toBe('wks_a')
  expect(within(folder).getAllByRole('option')).toHaveLength(2)
  await userEvent.selectOptions(folder, 'Sample folder')
  expect(await screen.findByText(/This is the sample folder/)).toBeTruthy()
  expect(window.location.hash).toBe('#/w/wks_s')
})

test('a list that is being rebuilt shows how many sessions are missing (R2)', async () => {
  await openPage({ workspace: [upsert('workspaces', buildWorkspaceRow({ rebuilding: 12 }))] })
  expect(await screen.findByText('Rebuilding the session list, 12 left')).toBeTruthy()
})

test('a complete list does not mention rebuilding (R2)', async () => {
  await openPage({ workspace: [upsert('workspaces', buildWorkspaceRow())] })
  await findComposer()
  expect(screen.queryByText(/Rebuilding/)).toBeNull()
})
