import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { CHINESE, ENGLISH, NO_BLOBS, show } from '../../../dev/surfaces'
import { RefusalText } from '../shared/refusal'

const REFUSED = {
  code: 'images_unsupported',
  message: 'opus takes no images: dot.png.',
  hint: 'Remove the image.',
  field: '',
}

test('a refusal is in the language of the page, and the words of the server are a press away', async () => {
  show(<RefusalText refusal={REFUSED} />, NO_BLOBS, CHINESE)
  expect(screen.getByText('此模型不接受图片')).toBeTruthy()
  expect(screen.getByText('请移除图片，或选择接受图片的模型。')).toBeTruthy()
  expect(screen.queryByText(REFUSED.message)).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: '运行时的原文' }))
  expect(screen.getByText(REFUSED.message).lang).toBe('en')
})

test('a hint without a text of the page is folded with the message it belongs to', async () => {
  show(<RefusalText refusal={{ ...REFUSED, code: 'conflict' }} />, NO_BLOBS, CHINESE)
  await userEvent.click(screen.getByRole('button', { name: '运行时的原文' }))
  expect(screen.getByText(`${REFUSED.message} ${REFUSED.hint}`)).toBeTruthy()
})

test('in English the message is in sight', () => {
  show(<RefusalText refusal={REFUSED} />, NO_BLOBS, ENGLISH)
  expect(screen.getByText(REFUSED.message)).toBeTruthy()
})
