import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { ActionRow as WireAction } from '@/system/generated/contracts'
import { actionRow } from '../../../dev/rows'
import { filled, show } from '../../../dev/surfaces'
import { ApprovalCard, type ApprovalCardProps } from './approval-card'

function card(change: Partial<WireAction> = {}, props: Partial<ApprovalCardProps> = {}) {
  const onAnswer = vi.fn()
  const row = filled('actions', actionRow({ preview: { text: 'rm -rf build' }, risk: 'high', ...change }))
  const all = {
    action: row,
    agentName: '',
    index: 0,
    count: 1,
    answered: null,
    takesFocus: true,
    onAnswer,
    onNext: vi.fn(),
    ...props,
  }
  return { onAnswer, all, ...show(<ApprovalCard {...all} />) }
}

test('the card names the tool, the risk and what would be done (UI-09)', () => {
  card({ policy: 'ask before commands' })
  expect(screen.getByRole('heading', { name: 'Allow Bash?' })).toBeTruthy()
  expect(screen.getByText('High risk')).toBeTruthy()
  expect(screen.getByRole('group', { name: 'What it would do' }).textContent).toBe('rm -rf build')
  expect(screen.getByText('Policy: ask before commands')).toBeTruthy()
})

test('characters that hide or reorder text are written out (SAFE-07)', () => {
  card({ preview: { text: 'ls \u202egpj.exe' } })
  expect(screen.getByRole('group', { name: 'What it would do' }).textContent).toBe('ls ⟨U+202E⟩gpj.exe')
})

test('it is answered by keyboard, once it could be read, with the reason that was typed', async () => {
  const clock = vi.spyOn(Date, 'now')
  const { onAnswer } = card()
  expect(document.activeElement).toBe(screen.getByRole('region', { name: 'Waiting for your decision' }))
  await userEvent.keyboard('a')
  expect(onAnswer).not.toHaveBeenCalled()
  clock.mockReturnValue(Number.MAX_SAFE_INTEGER)
  await userEvent.keyboard('a')
  expect(onAnswer).toHaveBeenLastCalledWith({ decision: 'approve', scope: 'once', reason: '' })
  await userEvent.type(screen.getByRole('textbox'), 'a rare reason')
  expect(onAnswer).toHaveBeenCalledTimes(1)
  await userEvent.click(screen.getByRole('button', { name: /Reject/ }))
  expect(onAnswer).toHaveBeenLastCalledWith({ decision: 'reject', scope: 'once', reason: 'a rare reason' })
})

test('a wider scope shows the rule that it would make before it is given', async () => {
  const { onAnswer } = card({ matchers: { session: 'Bash(make *)' } })
  expect(screen.queryByText(/Bash\(make \*\)/)).toBeNull()
  await userEvent.click(screen.getByRole('radio', { name: 'This session' }))
  expect(screen.getByText('Adds the rule Bash(make *)')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: /Approve/ }))
  expect(onAnswer).toHaveBeenCalledWith({ decision: 'approve', scope: 'session', reason: '' })
})

test('only what is offered can be chosen', () => {
  card({ decisions: ['reject'], scopes: ['once'] })
  expect(screen.queryByRole('button', { name: /Approve/ })).toBeNull()
  expect(screen.queryByRole('radio')).toBeNull()
})

test('an answer reads as sent, not as given, and cannot be sent twice (UI-09)', async () => {
  const { onAnswer } = card({}, { answered: 'approve' })
  expect(screen.getByText('Approval sent. Waiting for it to be recorded.')).toBeTruthy()
  await userEvent.keyboard('a')
  expect(onAnswer).not.toHaveBeenCalled()
})

test('a question is answered in words', async () => {
  const { onAnswer } = card({ actionType: 'clarification', decisions: ['answer'], scopes: [], preview: null })
  expect(screen.getByRole('button', { name: 'Answer' })).toHaveProperty('disabled', true)
  await userEvent.type(screen.getByRole('textbox', { name: 'Your answer' }), 'blue')
  await userEvent.click(screen.getByRole('button', { name: 'Answer' }))
  expect(onAnswer).toHaveBeenCalledWith({ decision: 'answer', scope: 'once', reason: 'blue' })
})

test('a request of a teammate names the teammate (UI-10)', () => {
  card({ actionType: 'delegated_permission' }, { agentName: 'researcher' })
  expect(screen.getByRole('heading', { name: 'A teammate asks to use Bash' })).toBeTruthy()
  expect(screen.getByText('Asked by researcher')).toBeTruthy()
})

test('a request that ran out says so', () => {
  card({ expiresAt: 1 })
  expect(screen.getByText('Expired')).toBeTruthy()
})
