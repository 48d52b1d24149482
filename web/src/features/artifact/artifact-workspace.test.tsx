import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import type { ArtifactRow as WireArtifact } from '@/system/generated/contracts'
import type { ArtifactDraft } from '@/system/stores/artifact-store'
import { buildArtifactRow, buildVersion, WORK_BLOBS } from '../../../dev/scenarios/work-scenarios'
import { createBlobReader, fillAs, show } from '../../../dev/surfaces'
import { ArtifactCards, LineCounts } from './artifact-card'
import type { ArtifactHandlers } from './artifact-handlers'
import ArtifactWorkspace, { type ArtifactWorkspaceProps } from './artifact-workspace'

function buildHandlers(): ArtifactHandlers {
  return {
    onOpen: vi.fn(),
    onClose: vi.fn(),
    onDraft: vi.fn(),
    onSave: vi.fn(),
    onRestore: vi.fn(),
    onRetry: vi.fn(),
    onNeedVersions: vi.fn(),
    onNeedDiff: vi.fn(),
    onExport: vi.fn(),
    onDelete: vi.fn(),
    onGoToTurn: vi.fn(),
    onContinue: vi.fn(),
    onCreate: vi.fn(),
    onRetryExport: vi.fn(),
    onDownload: () => {},
  }
}

/** A host that stores the draft. */
function Host(props: Partial<ArtifactWorkspaceProps> & { readonly row: Partial<WireArtifact> }) {
  const { row, handlers: recorded = buildHandlers(), ...more } = props
  const [draft, setDraft] = useState<ArtifactDraft | null>(props.draft ?? null)
  return (
    <ArtifactWorkspace
      artifact={fillAs('artifacts', buildArtifactRow('art_a', 9, row))}
      read={null}
      version={null}
      busy={false}
      refusal={null}
      successor={null}
      getDiff={() => null}
      {...more}
      draft={draft}
      handlers={{
        ...recorded,
        onDraft: (artifact, next) => {
          recorded.onDraft(artifact, next)
          setDraft(next)
        },
      }}
    />
  )
}

test('a newer version is a conflict: both sides stay until the person decides (CTX-04)', async () => {
  const recorded = buildHandlers()
  const refused = {
    code: 'artifact_conflict',
    message: 'The newest version is 2 by now.',
    field: '',
    hint: '',
  }
  show(
    <Host row={{}} draft={{ text: 'mine', base: 1 }} refusal={refused} handlers={recorded} />,
    createBlobReader(WORK_BLOBS),
  )
  expect(screen.getAllByRole('alert')).toHaveLength(1)
  const conflict = within(screen.getByRole('alert', { name: 'Conflict' }))
  expect(conflict.getByText('v2 is newer')).toBeTruthy()
  await userEvent.click(conflict.getByRole('button', { name: 'Text of v2' }))
  expect(conflict.getByRole('group', { name: 'Text of v2' }).textContent).toContain('Why the parser failed')
  const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Text of notes.md' })
  expect(field.value).toBe('mine')
  await userEvent.type(field, '{Control>}s{/Control}')
  expect(recorded.onSave).not.toHaveBeenCalled()
  await userEvent.click(screen.getByRole('button', { name: 'Save mine as v3' }))
  expect(recorded.onDraft).toHaveBeenLastCalledWith(expect.anything(), { text: 'mine', base: 2 })
  expect(recorded.onSave).toHaveBeenCalledOnce()
})

test('a failed save keeps the text, shows the reason, and can be retried (UI-13)', async () => {
  const recorded = buildHandlers()
  const row = {
    status: 'failed' as const,
    code: 'store_full',
    message: 'There is no room.',
    draft: { hash: 'mine', size: 10 },
    draftBase: 2,
  }
  show(<Host row={row} handlers={recorded} />, createBlobReader(WORK_BLOBS))
  const region = within(screen.getByRole('region', { name: 'Not saved' }))
  expect(region.getByText('There is no room.')).toBeTruthy()
  expect(region.getByText(/2\.9 ms after/)).toBeTruthy()
  await userEvent.click(region.getByRole('button', { name: 'Retry' }))
  expect(recorded.onRetry).toHaveBeenCalledExactlyOnceWith(expect.anything(), 2)
  await userEvent.click(region.getByRole('button', { name: 'Continue editing' }))
  expect(recorded.onDraft).toHaveBeenLastCalledWith(expect.anything(), { text: WORK_BLOBS.mine, base: 2 })
})

const DELETED = { status: 'deleted' as const, draft: null }

test('a draft continues in the artifact that replaced a deleted one (CTX-04)', async () => {
  const recorded = buildHandlers()
  const successor = fillAs('artifacts', buildArtifactRow('art_b', 12))
  show(
    <Host row={DELETED} draft={{ text: 'mine', base: 2 }} successor={successor} handlers={recorded} />,
    createBlobReader(WORK_BLOBS),
  )
  const left = within(screen.getByRole('alert', { name: 'Deleted' }))
  expect(left.getByText('Unsaved draft of the deleted notes.md')).toBeTruthy()
  expect(left.getByText('mine')).toBeTruthy()
  expect(screen.queryByRole('textbox')).toBeNull()
  expect(screen.queryByRole('button', { name: 'Actions for notes.md' })).toBeNull()
  await userEvent.click(left.getByRole('button', { name: 'Continue in the new notes.md' }))
  expect(recorded.onContinue).toHaveBeenCalledExactlyOnceWith(expect.anything(), successor, 'mine')
})

test('the recorded text of a failed save of a deleted artifact becomes a new one (CTX-04)', async () => {
  const recorded = { ...buildHandlers(), onCreate: vi.fn(async () => null) }
  const row = { ...DELETED, draft: { hash: 'mine', size: 10 }, draftBase: 2 }
  show(<Host row={row} handlers={recorded} />, createBlobReader(WORK_BLOBS))
  const left = within(screen.getByRole('alert', { name: 'Deleted' }))
  expect(left.queryByRole('button', { name: /^Go on/ })).toBeNull()
  await userEvent.click(left.getByRole('button', { name: 'Create new artifact' }))
  const dialog = within(screen.getByRole('dialog', { hidden: true }))
  await userEvent.click(dialog.getByRole('button', { name: 'Create', hidden: true }))
  const created = { place: 'file', path: 'docs/notes.md', title: '', text: WORK_BLOBS.mine }
  expect(recorded.onCreate).toHaveBeenCalledExactlyOnceWith(expect.anything(), created)
})

test('a conflict without a newer version names its cause', () => {
  const row = {
    status: 'conflict' as const,
    code: 'artifact_conflict',
    draft: { hash: 'mine', size: 10 },
    draftBase: 2,
  }
  show(<Host row={row} />, createBlobReader(WORK_BLOBS))
  const region = within(screen.getByRole('region', { name: 'Conflict' }))
  expect(region.getByText('The file was changed or removed')).toBeTruthy()
})

test('discarding a draft asks first', async () => {
  const recorded = buildHandlers()
  show(<Host row={{}} draft={{ text: 'mine', base: 2 }} handlers={recorded} />, createBlobReader(WORK_BLOBS))
  await userEvent.click(screen.getByRole('button', { name: 'Discard' }))
  expect(recorded.onDraft).not.toHaveBeenCalled()
  const dialog = within(screen.getByRole('dialog', { hidden: true }))
  await userEvent.click(dialog.getByRole('button', { name: 'Discard', hidden: true }))
  expect(recorded.onDraft).toHaveBeenLastCalledWith(expect.anything(), null)
  expect(screen.queryByRole('textbox')).toBeNull()
})

test('versions show their author and step, and any two can be compared (UI-14)', async () => {
  const recorded = buildHandlers()
  const row = {
    version: 3,
    versions: [
      buildVersion(1, 'notes1', { versionOrigin: 'found', turnId: '' }),
      buildVersion(2, 'notes2'),
      buildVersion(3, 'notes1', { versionOrigin: 'rollback', restores: 1, turnId: '' }),
    ],
  }
  show(<Host row={row} handlers={recorded} />, createBlobReader(WORK_BLOBS))
  await userEvent.click(screen.getByRole('radio', { name: 'Versions' }))
  const items = within(screen.getByRole('list', { name: 'Versions' })).getAllByRole('listitem')
  expect(items.map((item) => item.querySelector('p')?.textContent)).toEqual([
    'v3v1 restoredLatestSelected',
    'v2by agt_a',
    'v1existing file',
  ])
  await userEvent.click(within(items[1] as HTMLElement).getByRole('button', { name: 'Go to turn' }))
  expect(recorded.onGoToTurn).toHaveBeenCalledExactlyOnceWith('trn_a')
  await userEvent.click(screen.getByRole('radio', { name: 'Compare' }))
  expect(recorded.onNeedDiff).toHaveBeenLastCalledWith(expect.anything(), 2, 3)
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'From version' }), 'v1')
  expect(recorded.onNeedDiff).toHaveBeenLastCalledWith(expect.anything(), 1, 3)
})

test('content that is neither text nor image reads so and is never shown as text', () => {
  show(<Host row={{ artifactKind: 'binary' }} />, createBlobReader(WORK_BLOBS))
  expect(screen.getByText(/Cannot preview this file/)).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Edit' })).toBeNull()
})

test('hostile Markdown of an artifact runs no script (SAFE-06)', async () => {
  const hostile =
    '<img src=x onerror="window.hit = 1"> [click](javascript:window.hit=1) [ok](https://example.org)'
  const row = { version: 1, versions: [{ ...buildVersion(1, 'notes1'), content: { hash: 'h', size: 90 } }] }
  show(<Host row={row} />, createBlobReader({ h: hostile }))
  expect(await screen.findByRole('link', { name: 'ok' })).toBeTruthy()
  expect(document.querySelectorAll('img, script')).toHaveLength(0)
  expect(document.querySelector('[href^="javascript"]')).toBeNull()
})

test('a turn with many artifacts shows some of them and a way to all', async () => {
  const parts = Array.from({ length: 9 }, (_, n) =>
    fillAs('parts', {
      kind: 'artifact_ref',
      key: `art_${n}`,
      order: n,
      sequence: n,
      turnId: 'trn_a',
      threadId: 'thr_a',
      at: 1,
      artifactId: `art_${n}`,
      title: `file-${n}`,
      version: 1,
    }),
  )
  show(<ArtifactCards parts={parts as Parameters<typeof ArtifactCards>[0]['parts']} />)
  expect(screen.getAllByRole('listitem')).toHaveLength(5)
  await userEvent.click(screen.getByRole('button', { name: 'Show 5 more' }))
  expect(screen.getAllByRole('listitem')).toHaveLength(9)
})

test('one line is counted in the singular', () => {
  show(
    <>
      <LineCounts added={1} removed={2} />
      <LineCounts added={0} removed={1} />
    </>,
  )
  expect(screen.getByText('1 line added, 2 removed')).toBeTruthy()
  expect(screen.getByText('0 lines added, 1 removed')).toBeTruthy()
})
