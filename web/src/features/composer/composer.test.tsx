import { fireEvent, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import { show } from '../../../dev/surfaces'
import { Composer, type ComposerProps, type ComposerSettings } from './composer'

function showComposer(props: Partial<ComposerProps> = {}) {
  const onSend = vi.fn()
  const onSettings = vi.fn()
  const settings: ComposerSettings = {
    mode: 'chat',
    permissionMode: 'ask',
    busySendMode: null,
    ...props.settings,
  }
  const all: ComposerProps = {
    draft: 'Do it',
    onDraft: vi.fn(),
    onSettings,
    busy: false,
    placeholder: 'Say what',
    disabledBecause: null,
    onSend,
    inputRef: null,
    ...props,
    settings,
  }
  return { onSend, onSettings, ...show(<Composer {...all} />) }
}

const getField = () => screen.getByRole('textbox', { name: 'Message' })

test('Enter sends, Shift+Enter does not', async () => {
  const { onSend } = showComposer()
  await userEvent.type(getField(), '{Shift>}{Enter}{/Shift}')
  expect(onSend).not.toHaveBeenCalled()
  await userEvent.type(getField(), '{Enter}')
  expect(onSend).toHaveBeenCalledExactlyOnceWith('Do it', 'start')
})

test('Enter that ends a word of an input method does not send', () => {
  const { onSend } = showComposer()
  fireEvent.keyDown(getField(), { key: 'Enter', isComposing: true })
  expect(onSend).not.toHaveBeenCalled()
})

test('while a turn is running, input is sent only after the person chose how (UI-12)', async () => {
  const { onSend, onSettings } = showComposer({ busy: true })
  expect(screen.getAllByRole('radio').map((radio) => (radio as HTMLInputElement).checked)).toEqual([
    false,
    false,
    false,
  ])
  await userEvent.type(getField(), '{Enter}')
  expect(onSend).not.toHaveBeenCalled()
  expect(screen.getByRole('alert').textContent).toBe('A turn is running. Send this message how?')
  await userEvent.click(screen.getByRole('radio', { name: 'Steer' }))
  expect(onSettings).toHaveBeenCalledWith({ busySendMode: 'steer' })
})

test.each([
  ['queue', 'Queue', 'Run after the current turn'],
  ['steer', 'Steer', 'Send with the next model call'],
  ['interrupt', 'Interrupt and send', 'Stop the current turn and start this one'],
] as const)('the choice %s is on the button and explained (UI-11)', async (busySendMode, label, hint) => {
  const { onSend } = showComposer({
    busy: true,
    settings: { mode: 'chat', permissionMode: 'ask', busySendMode },
  })
  expect(screen.getByText(hint)).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: label }))
  expect(onSend).toHaveBeenCalledExactlyOnceWith('Do it', busySendMode)
})

test('blank input is not sent, and a closed composer shows the reason', async () => {
  const { onSend } = showComposer({ draft: '  \n ' })
  await userEvent.type(getField(), '{Enter}')
  expect(onSend).not.toHaveBeenCalled()
  expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', true)
})

test('a session that accepts no input shows the reason', () => {
  showComposer({ draft: '', disabledBecause: 'This session is archived.' })
  expect(screen.getByPlaceholderText('This session is archived.')).toHaveProperty('disabled', true)
})

test('a closed composer offers no choices', () => {
  showComposer({ draft: '', disabledBecause: 'This is a past session of Codex, for reading.' })
  expect(screen.queryByRole('combobox')).toBeNull()
})

test('the person chooses mode and permission', async () => {
  const { onSettings } = showComposer()
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Mode' }), 'Auto')
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Permission mode' }), 'Plan only')
  expect(onSettings.mock.calls).toEqual([[{ mode: 'auto' }], [{ permissionMode: 'planning' }]])
})
