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

test('a refusal is in the page’s language, and the server’s text is one press away', async () => {
  show(<RefusalText refusal={REFUSED} />, NO_BLOBS, CHINESE)
  expect(screen.getByText('模型不支持图片')).toBeTruthy()
  expect(screen.getByText('请移除图片，或选择其他模型。')).toBeTruthy()
  expect(screen.queryByText(REFUSED.message)).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: '原始信息' }))
  expect(screen.getByText(REFUSED.message).lang).toBe('en')
})

test('a hint without a text of the page is folded with its message', async () => {
  show(<RefusalText refusal={{ ...REFUSED, code: 'conflict' }} />, NO_BLOBS, CHINESE)
  await userEvent.click(screen.getByRole('button', { name: '原始信息' }))
  expect(screen.getByText(`${REFUSED.message} ${REFUSED.hint}`)).toBeTruthy()
})

test('in English the message is open', () => {
  show(<RefusalText refusal={REFUSED} />, NO_BLOBS, ENGLISH)
  expect(screen.getByText(REFUSED.message)).toBeTruthy()
})
