import { render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeEach, expect, test } from 'vitest'
import { clearStorage, findComposer, openPage } from '../../dev/app-page'
import { RefusedAnswer } from '../../dev/fake-server'
import {
  buildActionRow,
  buildPosition,
  buildSessionRow,
  buildStatusRow,
  buildTaskRow,
  buildTextPart,
  buildToolPart,
  buildTurnRow,
  SESSION,
  upsert,
} from '../../dev/rows'
import { buildTeamScenario } from '../../dev/scenarios/team-scenarios'
import { App } from './app'
import { createServices } from './services'

beforeEach(clearStorage)

test('one page leads from typed input to the answer (UI-01, UI-02, UI-03)', async () => {
  const { server } = await openPage(
    {
      answers: {
        submit_turn: (body) => ({
          sessionId: SESSION,
          threadId: 'thr_a',
          turnId: body.turnId,
          status: 'started',
          sequence: 3,
        }),
      },
    },
    `#/s/${SESSION}`,
  )
  await userEvent.type(await findComposer(), 'Count the files{Enter}')
  const feed = screen.getByRole('feed', { name: 'Conversation' })
  expect(await within(feed).findByText('Count the files')).toBeTruthy()
  const id = String(server.requests[0]?.body.turnId)
  const atStep = (step: number, key?: string) => buildPosition(id, 50, step, key)
  server.send(SESSION, [
    upsert('turns', buildTurnRow(id, 50, { state: 'running', input: { text: 'Count the files' } })),
    upsert(
      'status',
      buildStatusRow({ status: 'streaming', detail: 'running_tool', tool: 'Glob', sequence: 51 }),
    ),
    upsert('parts', buildToolPart(atStep(1, 'cal_a'), 'Glob', { state: 'running', summary: '**/*' })),
  ])
  await waitFor(() => expect(screen.getByText('Running Glob')).toBeTruthy())
  expect(within(feed).getAllByText('Count the files')).toHaveLength(1)
  server.send(SESSION, [
    upsert('parts', buildToolPart({ ...atStep(1, 'cal_a'), sequence: 60 }, 'Glob', { summary: '**/*' })),
    upsert('parts', buildTextPart(atStep(2), 'There are 12.')),
    upsert(
      'turns',
      buildTurnRow(id, 50, {
        sequence: 61,
        toolCalls: 1,
        finalParts: [atStep(2).key],
        input: { text: 'Count the files' },
      }),
    ),
    upsert('status', buildStatusRow({ status: 'done', detail: 'completed', sequence: 61 })),
  ])
  expect(await within(feed).findByText('There are 12.')).toBeTruthy()
  expect(within(feed).getByRole('button', { name: /1 tool/ })).toBeTruthy()
  expect(within(feed).queryByText('Glob')).toBeNull()
})

test('a request is answered from the card, which is removed with its fact (UI-09)', async () => {
  const { server } = await openPage(
    {
      sessions: {
        [SESSION]: [
          upsert('session', buildSessionRow()),
          upsert('status', buildStatusRow({ status: 'blocked', detail: 'waiting_approval' })),
          upsert('turns', buildTurnRow('trn_a', 10, { state: 'waiting' })),
          upsert('actions', buildActionRow({ preview: { text: 'make' } })),
        ],
      },
    },
    `#/s/${SESSION}`,
  )
  const card = await screen.findByRole('region', { name: 'Pending request' })
  await userEvent.click(within(card).getByRole('button', { name: /Approve/ }))
  expect(server.requests).toMatchObject([
    {
      name: 'respond_action',
      body: { sessionId: SESSION, actionId: 'act_a', decision: 'approve', scope: 'once' },
    },
  ])
  expect(within(card).getByText('Approval sent. Waiting for confirmation.')).toBeTruthy()
  server.send(SESSION, [{ op: 'remove', panel: 'actions', key: 'act_a' }])
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Pending request' })).toBeNull())
})

test('each session has its own draft, which survives leaving the session (UI-31)', async () => {
  const { services } = await openPage(
    {
      sessions: {
        [SESSION]: [upsert('session', buildSessionRow())],
        ses_b: [upsert('session', buildSessionRow({ key: 'ses_b', sessionId: 'ses_b' }))],
      },
    },
    `#/s/${SESSION}`,
  )
  await userEvent.type(await findComposer(), 'half a thought')
  services.workbench.openSession('ses_b')
  await waitFor(async () => expect(await findComposer()).toHaveProperty('value', ''))
  services.workbench.openSession(SESSION)
  await waitFor(async () => expect(await findComposer()).toHaveProperty('value', 'half a thought'))
})

test('a session continues with the settings of its last turn; a choice applies to its next turn only (UI-31)', async () => {
  const { server, services } = await openPage(
    {
      sessions: {
        [SESSION]: [
          upsert('session', buildSessionRow()),
          upsert('turns', buildTurnRow('trn_a', 10, { mode: 'auto', permissionMode: 'edits' })),
          upsert('turns', buildTurnRow('trn_b', 30, { source: 'schedule' })),
        ],
        ses_b: [upsert('session', buildSessionRow({ key: 'ses_b', sessionId: 'ses_b' }))],
      },
    },
    `#/s/${SESSION}`,
  )
  const findChoice = (name: string) => screen.getByRole<HTMLSelectElement>('combobox', { name }).value
  const listChoices = () => [findChoice('Mode'), findChoice('Permission mode')]
  await findComposer()
  await waitFor(() => expect(listChoices()).toEqual(['auto', 'edits']))
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Permission mode' }), 'Full access')
  expect(listChoices()).toEqual(['auto', 'full'])
  services.workbench.openSession('ses_b')
  await waitFor(() => expect(listChoices()).toEqual(['chat', 'ask']))
  services.workbench.openSession(null)
  expect(await screen.findByText(/asks before each change/)).toBeTruthy()
  expect(listChoices()).toEqual(['chat', 'ask'])
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Permission mode' }), 'Full access')
  expect(screen.getByText(/asks only if a rule or hook requires it/)).toBeTruthy()
  services.workbench.openSession(SESSION)
  await waitFor(() => expect(listChoices()).toEqual(['auto', 'full']))
  server.send(SESSION, [upsert('turns', buildTurnRow('trn_c', 50, { mode: 'auto', permissionMode: 'full' }))])
  await waitFor(() => expect(services.choices.get(SESSION)).toEqual({}))
  expect(listChoices()).toEqual(['auto', 'full'])
  server.send(SESSION, [upsert('turns', buildTurnRow('trn_d', 70))])
  await waitFor(() => expect(listChoices()).toEqual(['chat', 'ask']))
  services.workbench.openSession(null)
  expect(await screen.findByText(/asks before each change/)).toBeTruthy()
})

test('a session whose turns are not read yet continues in the mode that the server knows', async () => {
  const { server } = await openPage(
    { sessions: { [SESSION]: [upsert('session', buildSessionRow())] } },
    `#/s/${SESSION}`,
  )
  await userEvent.type(await findComposer(), 'Go on{Enter}')
  await waitFor(() =>
    expect(server.requests.at(-1)).toMatchObject({ name: 'submit_turn', body: { text: 'Go on' } }),
  )
  expect(server.requests.at(-1)?.body).not.toHaveProperty('permissionMode')
  server.send(SESSION, [upsert('turns', buildTurnRow('trn_a', 10, { permissionMode: 'edits' }))])
  await waitFor(() =>
    expect(screen.getByRole('combobox', { name: 'Permission mode' })).toHaveProperty('value', 'edits'),
  )
  await userEvent.type(await findComposer(), 'And on{Enter}')
  await waitFor(() =>
    expect(server.requests.at(-1)?.body).toMatchObject({ text: 'And on', permissionMode: 'edits' }),
  )
})

test('a session of one agent shows no team except, in its details, the way to one (UI-18)', async () => {
  const turns = [upsert('turns', buildTurnRow('trn_a', 10))]
  const { server } = await openPage(
    {
      sessions: {
        [SESSION]: [upsert('session', buildSessionRow()), upsert('status', buildStatusRow()), ...turns],
      },
      answers: {
        list_agents: () => ({
          agents: [{ name: 'critic', description: 'Judges.', kind: 'main', added: false }],
        }),
      },
    },
    `#/s/${SESSION}`,
  )
  await userEvent.click(await screen.findByRole('button', { name: 'Show details' }))
  expect(await screen.findByRole('tabpanel', { name: 'Turn' })).toBeTruthy()
  await userEvent.click(screen.getByRole('tab', { name: 'Team' }))
  const panel = within(screen.getByRole('tabpanel', { name: 'Team' }))
  expect(panel.getByText('One agent in this session.')).toBeTruthy()
  expect(screen.queryByRole('navigation', { name: 'Team views' })).toBeNull()
  await userEvent.click(panel.getByRole('button', { name: 'Add agent' }))
  const dialog = within(screen.getByRole('dialog', { name: 'Add agent', hidden: true }))
  await userEvent.click(await dialog.findByRole('button', { name: /critic/, hidden: true }))
  expect(server.requests).toMatchObject([
    { name: 'add_agent', body: { sessionId: SESSION, agent: 'critic' } },
  ])
})

test('a lost connection marks the page stale and keeps its rows (UI-30)', async () => {
  const { server } = await openPage({}, `#/s/${SESSION}`)
  await screen.findByText('Ready')
  server.refuse(SESSION)
  server.drop(SESSION)
  expect(await screen.findByText(/^Connection lost/)).toBeTruthy()
  expect(screen.getByText('Ready')).toBeTruthy()
})

test('a page without a credential shows how to sign in (SAFE-04)', async () => {
  const services = createServices(
    async () => new Response('{"code":"unauthenticated","message":"no"}', { status: 401 }),
    null,
    document.documentElement,
  )
  render(<App services={services} />)
  expect(await screen.findByRole('heading', { name: 'You are not signed in' })).toBeTruthy()
})

test('deleting a session asks first, and removes the session from the screen', async () => {
  const { server } = await openPage({}, `#/s/${SESSION}`)
  await userEvent.click(
    await screen.findByRole('button', { name: 'Actions for Fix the failing parser test' }),
  )
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Delete' }))
  expect(server.requests).toEqual([])
  await userEvent.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
  await waitFor(() =>
    expect(server.requests).toMatchObject([
      { name: 'delete_session', body: { sessionId: SESSION, confirm: SESSION } },
    ]),
  )
  await waitFor(() => expect(window.location.hash).toBe('#/w/wks_a'))
})

test('each action on a session sends its command (UI-33)', async () => {
  const { server } = await openPage({
    answers: { update_session: () => new RefusedAnswer(409, { code: 'conflict', message: 'later' }) },
  })
  await userEvent.click(
    await screen.findByRole('button', { name: 'Actions for Fix the failing parser test' }),
  )
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Pin' }))
  expect(server.requests).toMatchObject([
    { name: 'update_session', body: { sessionId: SESSION, pinned: true } },
  ])
  expect(await screen.findByText('later')).toBeTruthy()
})

test('the palette opens by keyboard and runs a command', async () => {
  await openPage({}, `#/s/${SESSION}`)
  await screen.findByText('Ready')
  await userEvent.keyboard('{Control>}k{/Control}')
  await userEvent.click(await screen.findByRole('option', { name: 'Theme: Dark' }))
  expect(document.documentElement.getAttribute('data-theme')).toBe('dark')
  expect(screen.queryByRole('dialog')).toBeNull()
})

test('the page changes its language in place', async () => {
  const { services } = await openPage({}, `#/s/${SESSION}`)
  await screen.findByText('Ready')
  await services.language.choose('zh')
  expect(await screen.findByText('就绪')).toBeTruthy()
  expect(document.documentElement.lang).toBe('zh-CN')
})

test('a team works from its session: authors are named, requests name their agent, and the way back is there (UI-10, UI-16, UI-29)', async () => {
  const { server } = await openPage(buildTeamScenario(), `#/s/${SESSION}`)
  const roster = await screen.findByRole('list', { name: 'Agents' })
  await waitFor(() => expect(document.title).toContain('3 running'))
  const getFeed = () => screen.getByRole('feed', { name: 'Conversation' })
  expect(within(getFeed()).getByRole('article', { name: 'You' }).textContent).toContain('ten times faster')
  expect(within(getFeed()).queryByText(/Read the lexer once per file/)).toBeNull()
  await userEvent.click(within(roster).getByRole('button', { name: /^worker-1 ?Executor/ }))
  expect(within(getFeed()).getByRole('article', { name: 'From coordinator' }).textContent).toContain(
    'Read the lexer once',
  )
  expect(within(getFeed()).queryByRole('article', { name: 'You' })).toBeNull()
  await userEvent.type(screen.getByRole('textbox', { name: 'Input for worker-1' }), 'Mind the index{Enter}')
  const card = screen.getByRole('region', { name: 'Pending request' })
  expect(card.textContent).toContain('Requested by worker-1 for coordinator')
  await userEvent.click(within(card).getByRole('button', { name: /Approve/ }))
  expect(server.requests).toMatchObject([
    { name: 'send_subagent_input', body: { sessionId: SESSION, agent: 'worker-1', text: 'Mind the index' } },
    { name: 'respond_action', body: { sessionId: SESSION, actionId: 'act_a', decision: 'approve' } },
  ])
  await userEvent.click(screen.getByRole('button', { name: 'Back to coordinator' }))
  expect(within(getFeed()).getByRole('article', { name: 'You' })).toBeTruthy()
})

test('a card of the board moves only when its fact arrives (UI-21)', async () => {
  const { server } = await openPage(buildTeamScenario(), `#/s/${SESSION}`)
  const nav = await screen.findByRole('navigation', { name: 'Team views' })
  await userEvent.click(within(nav).getByRole('button', { name: 'Board' }))
  await userEvent.click(await screen.findByRole('button', { name: 'Actions for Measure before and after' }))
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Assign to worker-2' }))
  expect(server.requests).toMatchObject([
    { name: 'update_task', body: { sessionId: SESSION, taskId: 'tsk_3', assignee: 'worker-2' } },
  ])
  expect(screen.getByRole('group', { name: 'Blocked' }).textContent).toContain('Unassigned')
  const row = buildTaskRow({
    key: 'tsk_3',
    sequence: 9,
    title: 'Measure before and after',
    status: 'claimed',
    assignee: 'worker-2',
  })
  server.send(SESSION, [upsert('tasks', row)])
  await waitFor(() =>
    expect(screen.getByRole('group', { name: 'Claimed' }).textContent).toContain('Measure before and after'),
  )
})
