import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { buildQueueRow } from '../../../dev/rows'
import { fillAs, show } from '../../../dev/surfaces'
import { QueueList } from './queue-list'

function showQueue(accepted = true) {
  const handlers = { onEdit: vi.fn(async () => accepted), onPromote: vi.fn(), onRemove: vi.fn() }
  const rows = [
    fillAs('queue', buildQueueRow('trn_1', 1, 'first')),
    fillAs('queue', buildQueueRow('trn_2', 2, 'second')),
  ]
  show(<QueueList queue={rows} sent={[]} handlers={handlers} />)
  return handlers
}

test('each queued turn shows its position and can be moved and removed (UI-11)', async () => {
  const handlers = showQueue()
  expect(screen.getAllByRole('listitem').map((row) => row.textContent)).toEqual(['1first', '2second'])
  const [first, second] = screen.getAllByRole('button', { name: 'Move to front' })
  expect(first).toHaveProperty('disabled', true)
  if (second !== undefined) await userEvent.click(second)
  expect(handlers.onPromote).toHaveBeenCalledExactlyOnceWith('trn_2')
  const [remove] = screen.getAllByRole('button', { name: 'Remove from queue' })
  if (remove !== undefined) await userEvent.click(remove)
  expect(handlers.onRemove).toHaveBeenCalledExactlyOnceWith('trn_1')
})

test.each([true, false])(
  'an edit closes when it is accepted and stays open when it is not',
  async (accepted) => {
    const handlers = showQueue(accepted)
    const [edit] = screen.getAllByRole('button', { name: 'Edit' })
    if (edit !== undefined) await userEvent.click(edit)
    const field = screen.getByRole('textbox', { name: 'Queued message' })
    await userEvent.clear(field)
    await userEvent.type(field, 'better')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(handlers.onEdit).toHaveBeenCalledExactlyOnceWith('trn_1', 'better')
    expect(screen.queryByRole('textbox') === null).toBe(accepted)
  },
)
