import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { PastSessionEntry, PastSessionList } from '@/system/generated/contracts'
import type { ImportProgress } from '@/system/stores/import-store'
import { CHINESE, NO_BLOBS, show } from '../../../dev/surfaces'
import ImportList, { type ImportListProps } from './import-list'

function buildPastSession(number: number, more: Partial<PastSessionEntry> = {}): PastSessionEntry {
  return {
    source: 'claude_code',
    product: 'Claude Code',
    sourceId: `s${number}`,
    folder: '/home/ada/atlas',
    title: `Past work ${number}`,
    changed: Date.parse('2024-03-09T12:00:00') * 1000,
    sessionId: `ses_${number}`,
    ...more,
  }
}

function buildProps(
  list: Partial<PastSessionList>,
  imports: Record<string, ImportProgress> = {},
): ImportListProps {
  const nothing = { onImport: vi.fn(), onStop: vi.fn(), onOpen: vi.fn() }
  return { list: { sessions: [], ...list }, imports, ...nothing }
}

const getRows = () => screen.getAllByRole('listitem')

test('a past session is listed with its product and day, and imported only with a click', async () => {
  const listProps = buildProps({
    sessions: [buildPastSession(1), buildPastSession(2, { source: 'codex', product: 'Codex' })],
  })
  show(<ImportList {...listProps} />)

  expect(getRows().map((row) => row.textContent)).toEqual([
    'Past work 1Claude CodeMar 9, 2024Import',
    'Past work 2CodexMar 9, 2024Import',
  ])
  expect(listProps.onImport).not.toHaveBeenCalled()
  await userEvent.tab()
  await userEvent.tab()
  await userEvent.keyboard('{Enter}')
  expect(listProps.onImport).toHaveBeenCalledExactlyOnceWith([buildPastSession(1)])
})

test('an imported session opens, and its new part is imported', async () => {
  const imported = buildPastSession(1, { imported: true })
  const listProps = buildProps({ sessions: [imported] })
  show(<ImportList {...listProps} />)

  expect(screen.queryByText(/The originals stay/)).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Open Past work 1' }))
  await userEvent.click(screen.getByRole('button', { name: 'Import new turns of Past work 1' }))
  expect(listProps.onOpen).toHaveBeenCalledExactlyOnceWith('ses_1')
  expect(listProps.onImport).toHaveBeenCalledExactlyOnceWith([imported])
})

test('one click imports all sessions, and waiting ones can be removed again', async () => {
  const sessions = [
    buildPastSession(1, { imported: true }),
    buildPastSession(2),
    buildPastSession(3),
    buildPastSession(4, { importing: 3 }),
  ]
  const listProps = buildProps({ sessions })
  const { update } = show(<ImportList {...listProps} />)

  await userEvent.click(screen.getByRole('button', { name: 'Import all 2' }))
  expect(listProps.onImport).toHaveBeenCalledExactlyOnceWith([buildPastSession(2), buildPastSession(3)])
  update(
    <ImportList
      {...listProps}
      imports={{ 'claude_code s2': { state: 'running' }, 'claude_code s3': { state: 'waiting' } }}
    />,
  )
  expect(within(getRows()[2] as HTMLElement).getByText('Waiting')).toBeTruthy()
  expect(screen.getByText('1 left')).toBeTruthy()
  const stop = screen.getByRole('button', { name: 'Stop and skip the remaining 1' })
  expect(document.activeElement).toBe(stop)
  await userEvent.keyboard('{Enter}')
  expect(listProps.onStop).toHaveBeenCalledOnce()

  const done = { state: 'done', answer: { sessionId: 'ses_2', added: 1, known: 0 } } as const
  update(
    <ImportList
      {...listProps}
      list={{
        sessions: sessions.map((session) =>
          buildPastSession(Number(session.sourceId.slice(1)), { imported: true }),
        ),
      }}
      imports={{ 'claude_code s2': done, 'claude_code s3': done }}
    />,
  )
  expect(document.activeElement?.textContent).toBe('All imported')
  await userEvent.keyboard('{Enter}')
  expect(listProps.onImport).toHaveBeenCalledOnce()
})

test('the progress of an import is in its row, whose button keeps the focus until it opens', async () => {
  const listProps = buildProps({ sessions: [buildPastSession(1)] })
  const { update } = show(<ImportList {...listProps} />)
  await userEvent.click(screen.getByRole('button', { name: 'Import Past work 1 from Claude Code' }))
  const button = document.activeElement

  const sessions = [buildPastSession(1, { importing: 40, imported: true })]
  update(
    <ImportList {...listProps} list={{ sessions }} imports={{ 'claude_code s1': { state: 'running' } }} />,
  )
  expect(screen.getByText('40 turns so far')).toBeTruthy()
  expect(button?.getAttribute('aria-disabled')).toBe('true')
  await userEvent.keyboard('{Enter}')
  expect(listProps.onImport).toHaveBeenCalledOnce()
  expect(listProps.onOpen).not.toHaveBeenCalled()

  const answer = { sessionId: 'ses_1', added: 41, known: 0 }
  update(
    <ImportList
      {...listProps}
      list={{ sessions: [buildPastSession(1, { imported: true })] }}
      imports={{ 'claude_code s1': { state: 'done', answer } }}
    />,
  )
  expect(screen.getByRole('status').textContent).toBe('41 new turns')
  expect(document.activeElement).toBe(button)
  await userEvent.keyboard('{Enter}')
  expect(listProps.onOpen).toHaveBeenCalledExactlyOnceWith('ses_1')
})

test.each([
  [{ sessionId: 'ses_1', added: 0, known: 4 }, 'No new turns'],
  [{ sessionId: 'ses_1', added: 1, known: 0 }, '1 new turn'],
  [
    { sessionId: '', added: 0, known: 0, unfinished: true },
    'Its newest turn may still be running. Import again later.',
  ],
])('the outcome of an import is announced: %j', (answer, text) => {
  const listProps = buildProps(
    { sessions: [buildPastSession(1)] },
    { 'claude_code s1': { state: 'done', answer } },
  )
  show(<ImportList {...listProps} />)
  expect(screen.getByRole('status').textContent).toBe(text)
})

test('a failed import shows the reason and can be retried', async () => {
  const refused = { code: 'transcript_unreadable', message: 'No such file.', hint: '', field: '' }
  const listProps = buildProps(
    { sessions: [buildPastSession(1)] },
    { 'claude_code s1': { state: 'failed', refusal: refused } },
  )
  show(<ImportList {...listProps} />)

  expect(screen.getByRole('status').textContent).toBe('Transcript unreadable No such file.')
  await userEvent.click(screen.getByRole('button', { name: 'Import Past work 1 from Claude Code' }))
  expect(listProps.onImport).toHaveBeenCalledExactlyOnceWith([buildPastSession(1)])
})

test('a long list is folded, and unlisted transcripts are mentioned', async () => {
  const unreadable = [{ product: 'Codex', name: 'rollout-1.jsonl', problem: 'It holds nothing.' }]
  show(
    <ImportList
      {...buildProps({
        sessions: [1, 2, 3, 4, 5, 6, 7].map((number) => buildPastSession(number)),
        unreadable,
        older: 12,
      })}
    />,
  )

  expect(getRows()).toHaveLength(5)
  await userEvent.click(screen.getByRole('button', { name: 'Show all 7' }))
  expect(getRows()).toHaveLength(7)
  expect(screen.getByText('12 older transcripts not listed.')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: '1 unreadable transcript' }))
  expect(screen.getByText('rollout-1.jsonl').parentElement?.textContent).toBe(
    'rollout-1.jsonl Codex. It holds nothing.',
  )
})

test('the list is available in Chinese', () => {
  show(<ImportList {...buildProps({ sessions: [buildPastSession(1)] })} />, NO_BLOBS, CHINESE)
  expect(getRows()[0]?.textContent).toBe('Past work 1Claude Code2024年3月9日导入')
})
