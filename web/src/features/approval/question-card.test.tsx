import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import type { ActionRow as WireAction } from '@/system/generated/contracts'
import { actionRow } from '../../../dev/rows'
import { filled, show } from '../../../dev/surfaces'
import { QuestionCard, type QuestionCardProps } from './question-card'

const ASKED: Partial<WireAction> = {
  actionType: 'clarification',
  decisions: ['answer', 'reject'],
  scopes: [],
  tool: '',
  toolCallId: '',
  prompt: 'Which colour shall the roof have?',
}

function Host(props: Partial<QuestionCardProps> & { readonly row: Partial<WireAction> }) {
  const [draft, setDraft] = useState('')
  const { row, ...more } = props
  return (
    <QuestionCard
      action={filled('actions', actionRow({ ...ASKED, ...row }))}
      agentName="painter"
      index={0}
      count={1}
      answered={null}
      takesFocus
      draft={draft}
      onDraft={setDraft}
      onAnswer={vi.fn()}
      onNext={vi.fn()}
      {...more}
    />
  )
}

test('a question names who asks and is answered in words, by keyboard', async () => {
  const onAnswer = vi.fn()
  show(<Host row={{}} onAnswer={onAnswer} />)
  expect(screen.getByRole('heading', { name: 'A question for you' })).toBeTruthy()
  expect(screen.getByText('Asked by painter')).toBeTruthy()
  expect(screen.getByText('Which colour shall the roof have?')).toBeTruthy()
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Your answer' }))
  await userEvent.keyboard('blue{Enter}and{Control>}{Enter}{/Control}')
  expect(onAnswer.mock.calls).toEqual([[{ decision: 'answer', text: 'blue\nand' }]])
})

test('an empty answer is refused by name and nothing is sent', async () => {
  const onAnswer = vi.fn()
  show(<Host row={{}} onAnswer={onAnswer} />)
  await userEvent.click(screen.getByRole('button', { name: /^Answer/ }))
  expect(screen.getByRole('alert').textContent).toBe('Write an answer first.')
  expect(screen.getByRole('textbox').getAttribute('aria-invalid')).toBe('true')
  expect(onAnswer).not.toHaveBeenCalled()
  await userEvent.type(screen.getByRole('textbox'), 'b')
  expect(screen.queryByRole('alert')).toBeNull()
})

test('an answer reads as sent, with its text, until the fact of it comes (UI-09)', () => {
  show(<Host row={{}} answered="answer" draft="blue" />)
  expect(screen.getByRole('status').textContent).toBe('Answer sent. Waiting for it to be recorded.')
  expect(screen.getByText('blue')).toBeTruthy()
  expect(screen.queryByRole('textbox')).toBeNull()
})

test('a credential is never typed here: it was given elsewhere, or it is refused (UI-23)', async () => {
  const onAnswer = vi.fn()
  const decisions = ['approve', 'reject'] as const
  show(<Host row={{ actionType: 'credential_request', decisions }} onAnswer={onAnswer} />)
  expect(screen.queryByRole('textbox')).toBeNull()
  expect(screen.getByText(/Type nothing secret here/)).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'I have authorised it, go on' }))
  await userEvent.click(screen.getByRole('button', { name: 'Reject' }))
  expect(onAnswer.mock.calls).toEqual([
    [{ decision: 'approve', text: '' }],
    [{ decision: 'reject', text: '' }],
  ])
})
