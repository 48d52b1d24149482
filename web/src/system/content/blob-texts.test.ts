import { expect, test } from 'vitest'
import { BlobTexts } from './blob-texts'

const toBytes = (text: string) => new TextEncoder().encode(text)
const buildRef = (size: number) => ({ hash: 'a'.repeat(64), size })

test('a text is read in pieces, even if a piece ends inside a character', async () => {
  const whole = toBytes('añ🎭')
  const requests: [number, number][] = []
  const blobs = new BlobTexts(async (_, offset, length) => {
    requests.push([offset, length])
    return whole.slice(offset, offset + 2)
  })
  await blobs.load(buildRef(whole.length))
  expect(blobs.get(buildRef(0).hash)).toEqual({ text: 'a', state: 'part' })
  while (blobs.get(buildRef(0).hash)?.state === 'part') await blobs.load(buildRef(whole.length))
  expect(blobs.get(buildRef(0).hash)).toEqual({ text: 'añ🎭', state: 'whole' })
  expect(requests.map(([offset]) => offset)).toEqual([0, 2, 4, 6])
})

test('a failed read keeps the text so far and can be retried', async () => {
  let fails = true
  const blobs = new BlobTexts(async () => {
    if (fails) throw new Error('down')
    return toBytes('whole')
  })
  await blobs.load(buildRef(5))
  expect(blobs.get(buildRef(0).hash)).toEqual({ text: '', state: 'failed' })
  fails = false
  await blobs.load(buildRef(5))
  expect(blobs.get(buildRef(0).hash)).toEqual({ text: 'whole', state: 'whole' })
})

test('a streamed text is stored for a blob only if its size is equal', () => {
  const blobs = new BlobTexts(async () => toBytes(''))
  blobs.store(buildRef(99), 'short')
  expect(blobs.get(buildRef(0).hash)).toBeUndefined()
  blobs.store(buildRef(6), 'añabc')
  expect(blobs.get(buildRef(0).hash)).toEqual({ text: 'añabc', state: 'whole' })
})
