import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import type { Mention } from '@/system/generated/contracts'
import type { AttachedFile } from '@/system/stores/attachment-store'
import { show } from '../../../dev/surfaces'
import { Composer, type ComposerProps } from './composer'
import { findMention } from './mentions'

const buildFile = (change: Partial<AttachedFile> = {}): AttachedFile => ({
  id: 'att_a',
  name: 'data.csv',
  size: 1200,
  state: 'ready',
  share: 1,
  upload: 'upl_a',
  problem: null,
  media: 'text/csv',
  preview: '',
  ...change,
})

function Host(props: Partial<ComposerProps>) {
  const [draft, setDraft] = useState('')
  return (
    <Composer
      draft={draft}
      onDraft={setDraft}
      settings={{ mode: 'chat', permissionMode: 'ask', busySendMode: null }}
      onSettings={() => {}}
      busy={false}
      placeholder=""
      disabledBecause={null}
      onSend={() => {}}
      inputRef={null}
      {...props}
    />
  )
}

const getField = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' })

test('an image that the model does not accept is reported before sending (M5)', () => {
  const image = buildFile({ name: 'shot.png', media: 'image/png' })
  const attaching = { list: [image, buildFile({ id: 'att_b' })], onFiles: vi.fn(), onRemove: vi.fn() }
  const route = { model: 'local/llama', images: false, runningModel: 'cloud/eyes', runningImages: true }
  const steering = { mode: 'chat', permissionMode: 'ask', busySendMode: 'steer' } as const
  const readStatus = () => document.querySelector('form [role=status]')?.textContent
  const { update } = show(<Host attaching={{ ...attaching, route }} />)
  expect(readStatus()).toBe('local/llama does not support images. Remove the image or choose another model.')
  expect(screen.getByText('shot.png').closest('li')?.className).toContain('border-warn')
  expect(screen.getByText('data.csv').closest('li')?.className).not.toContain('border-warn')
  update(<Host attaching={{ ...attaching, route }} busy settings={steering} />)
  expect(readStatus()).toBe('')
  update(
    <Host attaching={{ ...attaching, route: { ...route, runningImages: false } }} busy settings={steering} />,
  )
  expect(readStatus()).toBe('cloud/eyes does not support images. Remove the image or choose another model.')
  update(<Host attaching={{ ...attaching, route: { ...route, images: true } }} />)
  expect(readStatus()).toBe('')
  update(<Host attaching={{ ...attaching, route: null }} />)
  expect(readStatus()).toBe('')
})

test('files come from the picker, the clipboard and a drop; pasted text stays text', async () => {
  const onFiles = vi.fn()
  show(<Host attaching={{ list: [], onFiles, onRemove: vi.fn() }} />)
  const file = new File(['a'], 'a.txt')
  await userEvent.upload(screen.getByLabelText('Attach files'), file)
  fireEvent.paste(getField(), { clipboardData: { files: [file] } })
  fireEvent.paste(getField(), { clipboardData: { files: [] } })
  fireEvent.drop(getField(), { dataTransfer: { files: [file], types: ['Files'] } })
  expect(onFiles.mock.calls.map(([files]) => files.map((file: File) => file.name))).toEqual([
    ['a.txt'],
    ['a.txt'],
    ['a.txt'],
  ])
})

test('an uploading or failed file blocks sending, with the reason', async () => {
  const onRemove = vi.fn()
  const onSend = vi.fn()
  const problem = { code: 'too_large', message: 'It is larger than 32 MB.', hint: '', field: '' }
  const list = [buildFile(), buildFile({ id: 'att_b', name: 'big.bin', state: 'failed', problem })]
  show(<Host draft="Review" onSend={onSend} attaching={{ list, onFiles: vi.fn(), onRemove }} />)
  expect(screen.getByRole('alert').getAttribute('title')).toBe('It is larger than 32 MB.')
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send' }).disabled).toBe(true)
  fireEvent.keyDown(getField(), { key: 'Enter' })
  expect(onSend).not.toHaveBeenCalled()
  await userEvent.click(screen.getByRole('button', { name: 'Remove big.bin' }))
  expect(onRemove).toHaveBeenCalledExactlyOnceWith('att_b')
})

test('an @ at the start of a word is a mention, one inside a word is not', () => {
  expect(findMention('see @src/pa', 11)).toEqual({ at: 4, typed: 'src/pa' })
  expect(findMention('@', 1)).toEqual({ at: 0, typed: '' })
  expect(findMention('ada@example.org', 15)).toBeNull()
  expect(findMention('@a then', 7)).toBeNull()
})

const MENTIONS: readonly Mention[] = [
  { kind: 'file', ref: 'src/parser.py', insert: '@src/parser.py', title: 'parser.py' },
  { kind: 'folder', ref: 'src', insert: '@src/' },
]

test('a mention is chosen by keyboard and replaces the typed text; Enter then does not send', async () => {
  const onSend = vi.fn()
  const onMention = vi.fn(async () => MENTIONS)
  show(<Host onMention={onMention} onSend={onSend} />)
  await userEvent.type(getField(), 'Read @sr')
  await waitFor(() => expect(within(screen.getByRole('listbox')).getAllByRole('option')).toHaveLength(2))
  expect(onMention).toHaveBeenLastCalledWith('sr')
  await userEvent.keyboard('{ArrowDown}')
  const chosen = within(screen.getByRole('listbox')).getByRole('option', { selected: true })
  expect(getField().getAttribute('aria-activedescendant')).toBe(chosen.id)
  await userEvent.keyboard('{Enter}')
  expect(getField().value).toBe('Read @src/ ')
  expect(screen.queryByRole('listbox')).toBeNull()
  expect(onSend).not.toHaveBeenCalled()
})

test('Escape closes the suggestions and keeps the text', async () => {
  show(<Host onMention={async () => MENTIONS} />)
  await userEvent.type(getField(), '@s')
  expect(await screen.findByRole('listbox')).toBeTruthy()
  await userEvent.keyboard('{Escape}')
  expect(screen.queryByRole('listbox')).toBeNull()
  expect(getField().value).toBe('@s')
})

test('text typed while suggestions load belongs to the chosen mention', async () => {
  const onMention = vi.fn(async (text: string) => (text.length < 3 ? MENTIONS : new Promise<never>(() => {})))
  show(<Host onMention={onMention} />)
  await userEvent.type(getField(), '@sr')
  expect(await screen.findByRole('listbox')).toBeTruthy()
  await userEvent.type(getField(), 'c/p')
  await userEvent.keyboard('{Enter}')
  expect(getField().value).toBe('@src/parser.py ')
})
