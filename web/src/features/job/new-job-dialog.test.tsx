import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { Refusal } from '@/system/stores/notice-store'
import { show } from '../../../dev/surfaces'
import type { AgentOffer, NewJob } from '../shared/team-handlers'
import { NewJobDialog } from './new-job-dialog'

function showDialog(
  answer: Refusal | null,
  subagents: readonly AgentOffer[] | null = [{ name: 'worker', description: '' }],
) {
  const made: NewJob[] = []
  const onDone = vi.fn()
  const onCreate = async (job: NewJob) => {
    made.push(job)
    return answer
  }
  show(<NewJobDialog subagents={subagents} onCreate={onCreate} onDone={onDone} />)
  return { made, onDone }
}

const getField = (name: string) => screen.getByLabelText(name)
const start = () => userEvent.click(screen.getByRole('button', { name: 'Start job', hidden: true }))
const readAlerts = () => screen.queryAllByRole('alert', { hidden: true }).map((alert) => alert.textContent)

test('a job needs a title and items, one per line; an only subagent is preselected', async () => {
  const { made, onDone } = showDialog(null)
  await start()
  expect(readAlerts()).toEqual(['Enter a title.', 'Enter at least one item, one per line.'])
  await userEvent.type(getField('Title'), ' Read them ')
  await userEvent.type(getField('Instructions per item'), 'In one line.')
  await userEvent.type(getField('Items, one per line'), 'a.md{Enter}{Enter} b.md {Enter}')
  expect(screen.getByText('2 items')).toBeTruthy()
  await userEvent.type(getField('Parallel items'), '65')
  await start()
  expect(readAlerts()).toEqual(['Enter a whole number from 1 to 64, or leave empty.'])
  await userEvent.clear(getField('Parallel items'))
  await userEvent.type(getField('Parallel items'), '3')
  await userEvent.selectOptions(getField('Permission mode'), 'edits')
  await start()
  expect(made).toEqual([
    {
      title: 'Read them',
      instructions: 'In one line.',
      items: [{ input: 'a.md' }, { input: 'b.md' }],
      agent: 'worker',
      parallel: 3,
      permissionMode: 'edits',
    },
  ])
  expect(onDone).toHaveBeenCalledOnce()
})

test('a refusal is shown at its field, and typed text stays', async () => {
  const refused = {
    code: 'invalid_input',
    message: 'items.0.input is odd.',
    hint: '',
    field: 'items.0.input',
  }
  const { onDone } = showDialog(refused)
  await userEvent.type(getField('Title'), 'Read them')
  await userEvent.type(getField('Items, one per line'), 'a.md')
  await start()
  const items = getField('Items, one per line')
  expect(document.getElementById(items.getAttribute('aria-describedby') ?? '')?.textContent).toContain(
    'items.0.input is odd.',
  )
  expect([items, getField('Title')].map((input) => (input as HTMLInputElement).value)).toEqual([
    'a.md',
    'Read them',
  ])
  expect(onDone).not.toHaveBeenCalled()
  await userEvent.type(items, 'x')
  expect(readAlerts()).toEqual([])
})

test('too many items are reported before sending', async () => {
  const { made } = showDialog(null)
  await userEvent.type(getField('Title'), 'Read them')
  await userEvent.click(getField('Items, one per line'))
  await userEvent.paste(Array.from({ length: 501 }, (_, index) => `${index}.md`).join('\n'))
  expect(screen.getByText('501 items exceed the limit of 500.')).toBeTruthy()
  await start()
  expect(made).toEqual([])
})

test('several subagents offer a choice, and a missing one is requested', async () => {
  const several = ['reader', 'writer'].map((name) => ({ name, description: `A ${name}.` }))
  const { made } = showDialog(null, several)
  await userEvent.type(getField('Title'), 'Read them')
  await userEvent.type(getField('Items, one per line'), 'a.md')
  await start()
  expect(readAlerts()).toEqual(['Select a subagent for the items.'])
  await userEvent.selectOptions(getField('Subagent'), 'writer')
  expect(screen.getByText('A writer.')).toBeTruthy()
  await start()
  expect(made.map((job) => job.agent)).toEqual(['writer'])
})

test('a folder without a subagent shows that; unknown subagents are left to the server', async () => {
  showDialog(null, [])
  await userEvent.type(getField('Title'), 'Read them')
  await userEvent.type(getField('Items, one per line'), 'a.md')
  await start()
  expect(readAlerts()).toEqual(['A job needs a subagent. Add a file with “kind: subagent” to agents/.'])
})
