import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import type { ActionRow as WireAction } from '@/system/generated/contracts'
import { buildActionRow } from '../../../dev/rows'
import { fillAs, show } from '../../../dev/surfaces'
import { QuestionCard, type QuestionCardProps } from './question-card'

const QUESTION_ROW: Partial<WireAction> = {
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
      action={fillAs('actions', buildActionRow({ ...QUESTION_ROW, ...row }))}
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

test('a question names the agent that asks, and is answered as text, by keyboard', async () => {
  const onAnswer = vi.fn()
  show(<Host row={{}} onAnswer={onAnswer} />)
  expect(screen.getByRole('heading', { name: 'Question' })).toBeTruthy()
  expect(screen.getByText('Requested by painter')).toBeTruthy()
  expect(screen.getByText('Which colour shall the roof have?')).toBeTruthy()
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Your answer' }))
  await userEvent.keyboard('blue{Enter}and{Control>}{Enter}{/Control}')
  expect(onAnswer.mock.calls).toEqual([[{ decision: 'answer', text: 'blue\nand' }]])
})

test('an empty answer is refused with a message and not sent', async () => {
  const onAnswer = vi.fn()
  show(<Host row={{}} onAnswer={onAnswer} />)
  await userEvent.click(screen.getByRole('button', { name: /^Answer/ }))
  expect(screen.getByRole('alert').textContent).toBe('Enter an answer.')
  expect(screen.getByRole('textbox').getAttribute('aria-invalid')).toBe('true')
  expect(onAnswer).not.toHaveBeenCalled()
  await userEvent.type(screen.getByRole('textbox'), 'b')
  expect(screen.queryByRole('alert')).toBeNull()
})

test('an answer reads as sent, with its text, until its fact arrives (UI-09)', () => {
  show(<Host row={{}} answered="answer" draft="blue" />)
  expect(screen.getByRole('status').textContent).toBe('Answer sent. Waiting for confirmation.')
  expect(screen.getByText('blue')).toBeTruthy()
  expect(screen.queryByRole('textbox')).toBeNull()
})

test('a credential is never typed on the page: it is provided at its service or refused (UI-23)', async () => {
  const onAnswer = vi.fn()
  const decisions = ['approve', 'reject'] as const
  show(<Host row={{ actionType: 'credential_request', decisions }} onAnswer={onAnswer} />)
  expect(screen.queryByRole('textbox')).toBeNull()
  expect(screen.getByText(/Do not enter secrets here/)).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Continue after authorising' }))
  await userEvent.click(screen.getByRole('button', { name: 'Reject' }))
  expect(onAnswer.mock.calls).toEqual([
    [{ decision: 'approve', text: '' }],
    [{ decision: 'reject', text: '' }],
  ])
})

test('a suggested answer is put into the field before it is sent', async () => {
  const onAnswer = vi.fn()
  const question = { question: 'Which?', options: ['main', 'release'] }
  const row = {
    actionType: 'structured_input',
    tool: 'ask_person',
    arguments: { text: JSON.stringify(question) },
  } as const
  show(<Host row={row} onAnswer={onAnswer} />)
  const options = within(screen.getByRole('group', { name: 'Suggested answers' }))
  await userEvent.click(options.getByRole('button', { name: 'release' }))
  expect(options.getByRole('button', { name: 'release', pressed: true })).toBeTruthy()
  expect(onAnswer).not.toHaveBeenCalled()
  await userEvent.click(screen.getByRole('button', { name: /^Answer/ }))
  expect(onAnswer.mock.calls).toEqual([[{ decision: 'answer', text: 'release' }]])
})

test('a plan is accepted, sent back with changes, or rejected with a reason (UI-24)', async () => {
  const onAnswer = vi.fn()
  const plan = { summary: 'Mend the parser.', steps: ['Read it', 'Change it'] }
  const row = {
    actionType: 'teammate_plan_decision',
    tool: 'propose_plan',
    prompt: plan.summary,
    decisions: ['approve', 'answer', 'reject'],
    arguments: { text: JSON.stringify(plan) },
  } as const
  show(<Host row={row} onAnswer={onAnswer} />)
  expect(screen.getByRole('heading', { name: 'Accept this agent’s plan?' })).toBeTruthy()
  const steps = within(screen.getByRole('list', { name: 'Plan' })).getAllByRole('listitem')
  expect(steps.map((step) => step.textContent)).toEqual(plan.steps)
  await userEvent.click(screen.getByRole('button', { name: /^Request changes/ }))
  expect(screen.getByRole('alert').textContent).toBe('Describe the changes.')
  await userEvent.click(screen.getByRole('button', { name: 'Accept plan' }))
  await userEvent.type(screen.getByRole('textbox'), 'Read only')
  await userEvent.click(screen.getByRole('button', { name: /^Request changes/ }))
  await userEvent.click(screen.getByRole('button', { name: 'Reject' }))
  expect(onAnswer.mock.calls).toEqual([
    [{ decision: 'approve', text: '' }],
    [{ decision: 'answer', text: 'Read only' }],
    [{ decision: 'reject', text: 'Read only' }],
  ])
})

test('a plan is accepted with its execution mode; the first mode is the default (UI-24)', async () => {
  const onAnswer = vi.fn()
  const row = {
    actionType: 'plan_decision',
    tool: 'propose_plan',
    decisions: ['approve', 'answer', 'reject'],
    modes: ['edits', 'ask'],
    arguments: { text: JSON.stringify({ summary: 'Fix the parser.', steps: ['Read it'] }) },
  } as const
  show(<Host row={row} onAnswer={onAnswer} />)
  expect(screen.getAllByRole('button').map((button) => button.textContent)).toEqual([
    'Reject',
    'Request changesCtrl Enter',
    'Accept, ask first',
    'Accept, allow edits',
  ])
  expect(screen.getByRole('button', { name: 'Accept, allow edits' }).className).toContain('bg-accent')
  await userEvent.click(screen.getByRole('button', { name: 'Accept, allow edits' }))
  await userEvent.type(screen.getByRole('textbox'), 'Keep it short.')
  await userEvent.click(screen.getByRole('button', { name: 'Accept, ask first' }))
  expect(onAnswer.mock.calls).toEqual([
    [{ decision: 'approve', text: '', mode: 'edits' }],
    [{ decision: 'approve', text: 'Keep it short.', mode: 'ask' }],
  ])
})

const FORM = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', title: 'Title' },
    points: { type: 'integer', title: 'Points', maximum: 13 },
    urgent: { type: 'boolean', title: 'Urgent' },
  },
}

const ASKS_A_FORM: Partial<WireAction> = {
  actionType: 'structured_input',
  arguments: { text: JSON.stringify({ server: 'tickets', message: '', schema: FORM }) },
}

test('a request of a server is a form, validated before it is sent as an object of its schema', async () => {
  const onAnswer = vi.fn()
  show(<Host row={ASKS_A_FORM} onAnswer={onAnswer} />)
  await userEvent.type(await screen.findByLabelText('Points'), '40')
  await userEvent.click(screen.getByRole('button', { name: 'Answer' }))
  expect(screen.getAllByRole('alert').map((element) => element.textContent)).toEqual([
    'This field is required.',
    'Enter 13 or less.',
  ])
  expect(onAnswer).not.toHaveBeenCalled()
  await userEvent.type(screen.getByLabelText(/^Title/), 'Tokens twice')
  await userEvent.clear(screen.getByLabelText('Points'))
  await userEvent.type(screen.getByLabelText('Points'), '8')
  await userEvent.click(screen.getByRole('checkbox', { name: 'Urgent' }))
  await userEvent.click(screen.getByRole('button', { name: 'Answer' }))
  expect(JSON.parse(onAnswer.mock.calls[0]?.[0].text)).toEqual({
    title: 'Tokens twice',
    points: 8,
    urgent: true,
  })
})

test('a schema that a form cannot show is answered as text', () => {
  const beyond = { ...FORM, properties: { ...FORM.properties, nested: { type: 'object' } } }
  show(<Host row={{ ...ASKS_A_FORM, arguments: { text: JSON.stringify({ schema: beyond }) } }} />)
  expect(screen.getByRole('textbox', { name: 'Your answer' })).toBeTruthy()
})
