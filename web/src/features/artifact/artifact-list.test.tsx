import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import type { ExportEntry, ArtifactRow as WireArtifact } from '@/system/generated/contracts'
import type { NewArtifact } from '@/system/stores/artifact-store'
import { buildArtifactRow } from '../../../dev/scenarios/work-scenarios'
import { CHINESE, fillAs, NO_BLOBS, show } from '../../../dev/surfaces'
import type { ArtifactListHandlers } from './artifact-handlers'
import { ArtifactList } from './artifact-list'

const EMPTY: NewArtifact = { place: 'file', path: '', title: '', text: '' }

function buildHandlers(change: Partial<ArtifactListHandlers> = {}): ArtifactListHandlers {
  return {
    onOpen: vi.fn(),
    onWriteNew: vi.fn(),
    onCreate: vi.fn(async () => null),
    onArchive: vi.fn(async () => null),
    onRetryExport: vi.fn(),
    onDownload: vi.fn(),
    ...change,
  }
}

/** A host that stores the draft of a new artifact. */
function Host(props: {
  readonly rows?: readonly WireArtifact[]
  readonly handlers?: ArtifactListHandlers
  readonly draft?: NewArtifact
}) {
  const [draft, setDraft] = useState(props.draft ?? EMPTY)
  return (
    <ArtifactList
      artifacts={(props.rows ?? []).map((row) => fillAs('artifacts', row))}
      openId={null}
      draft={draft}
      handlers={{ ...(props.handlers ?? buildHandlers()), onWriteNew: setDraft }}
    />
  )
}

const getDialog = () => within(screen.getByRole('dialog', { hidden: true }))
const press = (name: string) => userEvent.click(getDialog().getByRole('button', { name, hidden: true }))

function buildExport(change: Partial<ExportEntry>): ExportEntry {
  return { export: 'exp_a', version: 1, form: 'zip', everything: true, ...change }
}

test('a session without artifacts shows that, and offers to create one', async () => {
  const recorded = buildHandlers()
  show(<Host handlers={recorded} />)
  expect(screen.getByText('No artifacts yet.')).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Export as ZIP' })).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'New artifact' }))
  await press('Create')
  expect(recorded.onCreate).not.toHaveBeenCalled()
  const path = getDialog().getByRole('textbox', { name: 'Path in the folder', hidden: true })
  expect(path.getAttribute('aria-invalid')).toBe('true')
  expect(getDialog().getByRole('alert', { hidden: true }).textContent).toContain('Enter a path')
  await userEvent.type(path, ' notes/plan.md ')
  const text = getDialog().getByRole('textbox', { name: 'Text', hidden: true })
  await userEvent.type(text, '# Plan{Control>}s{/Control}')
  const draft = { place: 'file', path: 'notes/plan.md', title: '', text: '# Plan' }
  expect(recorded.onCreate).toHaveBeenCalledExactlyOnceWith(draft)
  expect(screen.queryByRole('dialog', { hidden: true })).toBeNull()
})

test('typed text stays if it is refused, with the reason', async () => {
  const why = { code: 'artifact_conflict', message: 'There is a file a.md already.', hint: '', field: 'path' }
  const recorded = buildHandlers({ onCreate: vi.fn(async () => why) })
  show(<Host handlers={recorded} draft={{ ...EMPTY, path: 'a.md', text: 'mine' }} />)
  await userEvent.click(screen.getByRole('button', { name: 'New artifact' }))
  await press('Create')
  expect(getDialog().getByRole('alert', { hidden: true }).textContent).toContain('a.md already exists')
  const path = getDialog().getByRole('textbox', { name: 'Path in the folder', hidden: true })
  expect(path.getAttribute('aria-invalid')).toBe('true')
  await press('Cancel')
  await userEvent.click(screen.getByRole('button', { name: 'New artifact' }))
  const text = getDialog().getByRole<HTMLTextAreaElement>('textbox', { name: 'Text', hidden: true })
  expect(text.value).toBe('mine')
  await userEvent.click(getDialog().getByRole('radio', { name: 'This session only', hidden: true }))
  await userEvent.type(getDialog().getByRole('textbox', { name: 'Title', hidden: true }), 'Brief')
  await press('Create')
  expect(recorded.onCreate).toHaveBeenLastCalledWith({
    place: 'session',
    path: 'a.md',
    title: 'Brief',
    text: 'mine',
  })
})

test('an archive contains all or selected artifacts (CTX-05)', async () => {
  const recorded = buildHandlers()
  const rows = [
    buildArtifactRow('art_a', 1, { path: 'a.md' }),
    buildArtifactRow('art_b', 2, { path: 'b.md' }),
    buildArtifactRow('art_c', 3, { path: 'c.md', status: 'deleted' }),
  ]
  show(<Host rows={rows} handlers={recorded} />)
  const open = () => userEvent.click(screen.getByRole('button', { name: 'Export as ZIP' }))
  await open()
  await press('Export')
  expect(recorded.onArchive).toHaveBeenLastCalledWith([])
  await open()
  await userEvent.click(getDialog().getByRole('radio', { name: 'Selected', hidden: true }))
  await press('Export')
  expect(getDialog().getByRole('alert', { hidden: true }).textContent).toBe('Select at least one artifact.')
  const boxes = getDialog().getAllByRole('checkbox', { hidden: true })
  expect(boxes).toHaveLength(2)
  await userEvent.click(getDialog().getByRole('checkbox', { name: 'a.md', hidden: true }))
  await press('Export')
  expect(recorded.onArchive).toHaveBeenLastCalledWith(['art_a'])
})

test('an archive shows its progress, its result, or why it failed (CTX-05)', async () => {
  const recorded = buildHandlers()
  const done = buildExport({
    export: 'exp_a',
    content: { hash: 'z', size: 2048 },
    name: 'artifacts.zip',
    leftOut: 2,
  })
  const failed = buildExport({
    export: 'exp_b',
    everything: false,
    artifacts: 2,
    code: 'too_large',
    message: 'More than fits.',
  })
  const running = buildExport({ export: 'exp_c', done: 3, total: 10 })
  const rows = [
    buildArtifactRow('art_a', 1, { exports: [done, buildExport({ export: 'exp_f', form: 'file' })] }),
    buildArtifactRow('art_b', 2, { exports: [failed, running] }),
  ]
  show(<Host rows={rows} handlers={recorded} />)
  const items = within(screen.getByRole('list', { name: 'ZIP exports' })).getAllByRole('listitem')
  expect(items).toHaveLength(3)
  const [first, second, third] = items.map((item) => within(item))
  expect(first?.getByRole('status').textContent).toBe('Exporting')
  expect(first?.getByRole<HTMLProgressElement>('progressbar', { name: 'Export progress' }).position).toBe(0.3)
  expect(second?.getByText('2 artifacts')).toBeTruthy()
  expect(second?.getByRole('alert').textContent).toBe('Too large More than fits.')
  await userEvent.click(second?.getByRole('button', { name: 'Retry' }) as HTMLElement)
  expect(recorded.onRetryExport).toHaveBeenCalledExactlyOnceWith('art_b', 'exp_b')
  await userEvent.click(third?.getByRole('button', { name: /^Download, 2/ }) as HTMLElement)
  expect(vi.mocked(recorded.onDownload).mock.calls).toMatchObject([[{ name: 'artifacts.zip' }]])
  expect(third?.getByText('2 erased artifacts omitted.')).toBeTruthy()
})

test('the list is available in Chinese', () => {
  show(<Host rows={[buildArtifactRow('art_a', 1)]} />, NO_BLOBS, CHINESE)
  expect(screen.getByRole('button', { name: '新建产物' })).toBeTruthy()
  expect(screen.getByRole('button', { name: '导出为 ZIP' })).toBeTruthy()
})
