import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { SessionCard as WireCard } from '@/system/generated/contracts'
import { buildCardRow } from '../../../dev/rows'
import { CHINESE, ENGLISH, fillAs, NO_BLOBS, show } from '../../../dev/surfaces'
import { SessionList } from './session-list'

const buildCard = (id: string, order: number, change: Partial<WireCard> = {}) =>
  fillAs('sessions', buildCardRow(id, order, { title: id, ...change }))

function list(sessions: ReturnType<typeof buildCard>[], unread: string[] = [], t = ENGLISH) {
  const handlers = {
    onOpen: vi.fn(),
    onRename: vi.fn(),
    onPin: vi.fn(),
    onArchive: vi.fn(),
    onExport: vi.fn(),
    onDelete: vi.fn(),
  }
  show(
    <SessionList
      sessions={sessions}
      activeId="plain"
      isUnread={(session) => unread.includes(session.sessionId)}
      handlers={handlers}
      onNew={() => {}}
    />,
    NO_BLOBS,
    t,
  )
  return handlers
}

const readTitles = () =>
  screen.getAllByRole('listitem').map((entry) => entry.querySelector('.truncate')?.textContent)

test('pinned sessions come first, then those that need a person, then the newest (UI-24)', () => {
  list([
    buildCard('plain', 30),
    buildCard('old', 10),
    buildCard('asks', 20, { state: 'waiting', attention: 'needs_input', pendingActions: 1 }),
    buildCard('pinned', 1, { pinned: true }),
    buildCard('put away', 40, { archived: true }),
  ])
  expect(readTitles()).toEqual(['pinned', 'asks', 'plain', 'old'])
})

test('a state is shown in words, unread is marked, and so is the active session', () => {
  list(
    [
      buildCard('plain', 3),
      buildCard('asks', 2, { state: 'waiting', attention: 'needs_input' }),
      buildCard('gone', 1, { state: 'lost' }),
    ],
    ['gone'],
  )
  expect(screen.getByText('Needs input')).toBeTruthy()
  expect(screen.getByText('Process ended')).toBeTruthy()
  expect(screen.getAllByRole('img', { name: 'Unread' })).toHaveLength(1)
  expect(screen.getByRole('button', { current: 'page' }).textContent).toContain('plain')
})

test('a damaged session stays in the list, with the reason and what to do (UI-24)', () => {
  list([
    buildCard('plain', 3),
    buildCard('broken', 2, { state: 'damaged', problem: 'The fact ses_1/4 is missing.' }),
  ])
  expect(screen.getByText('Damaged')).toBeTruthy()
  expect(screen.getByText(/The fact ses_1\/4 is missing\. Run callboard check/)).toBeTruthy()
})

test('the problem of a damaged session is in the page’s language (UI-27)', () => {
  const problem = { problem: 'The fact ses_1/4 is missing.', problemCode: 'chain_broken' }
  list([buildCard('broken', 2, { state: 'damaged', ...problem })], [], CHINESE)
  const problemText = screen.getByText('日志验证失败。 请运行 callboard check，然后恢复备份。')
  expect(problemText.title).toBe('The fact ses_1/4 is missing.')
})

test('the filter matches titles, and archived sessions are one click away', async () => {
  list([buildCard('plain', 3), buildCard('fix the parser', 2), buildCard('put away', 1, { archived: true })])
  await userEvent.click(screen.getByRole('button', { name: 'Archived' }))
  expect(readTitles()).toEqual(['plain', 'fix the parser', 'put away'])
  await userEvent.type(screen.getByRole('searchbox'), 'PARSER')
  expect(readTitles()).toEqual(['fix the parser'])
})

test('a session is renamed in place, and Escape keeps the old title', async () => {
  const handlers = list([buildCard('plain', 3)])
  const rename = async () => {
    await userEvent.click(screen.getByRole('button', { name: 'Actions for plain' }))
    await userEvent.click(await screen.findByRole('menuitem', { name: 'Rename' }))
    return screen.findByRole('textbox', { name: 'Session title' })
  }
  await userEvent.type(await rename(), '{Escape}')
  expect(handlers.onRename).not.toHaveBeenCalled()
  const field = await rename()
  await userEvent.clear(field)
  await userEvent.type(field, 'A better title{Enter}')
  expect(handlers.onRename).toHaveBeenCalledExactlyOnceWith('plain', 'A better title')
})

test('each entry of the menu calls its handler', async () => {
  const handlers = list([buildCard('plain', 3)])
  for (const name of ['Pin', 'Archive', 'Delete']) {
    await userEvent.click(screen.getByRole('button', { name: 'Actions for plain' }))
    await userEvent.click(await screen.findByRole('menuitem', { name }))
  }
  expect(handlers.onPin).toHaveBeenCalledWith('plain', true)
  expect(handlers.onArchive).toHaveBeenCalledWith('plain', true)
  expect(handlers.onDelete.mock.calls[0]?.[0]).toMatchObject({ sessionId: 'plain' })
})

test('arrow keys, Home and End move through a long list', async () => {
  list(Array.from({ length: 4 }, (_, index) => buildCard(`s${index}`, 10 - index)))
  const readFocus = () => document.activeElement?.querySelector('.truncate')?.textContent
  await userEvent.tab()
  await userEvent.tab()
  await userEvent.tab()
  const opened: unknown[] = []
  for (const key of ['{ArrowDown}', '{End}', '{ArrowDown}', '{ArrowUp}', '{Home}']) {
    await userEvent.keyboard(key)
    opened.push(readFocus())
  }
  expect(opened).toEqual(['s1', 's3', 's3', 's2', 's0'])
})
