import { expect, test } from 'vitest'
import { detectMedia, ImageStore } from './image-store'

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a])
const toBytes = (text: string) => new TextEncoder().encode(text)

function createStore(content: Uint8Array | null) {
  const dropped: string[] = []
  let made = 0
  const all = new ImageStore(
    async () => {
      if (content === null) throw new Error('gone')
      return content
    },
    { create: (_, media) => `blob:${media}:${made++}`, drop: (address) => dropped.push(address) },
  )
  return { all, dropped }
}

test('the bytes decide the format of an image, and formats that can hold a script are rejected (SAFE-06)', () => {
  expect(detectMedia(PNG)).toBe('image/png')
  expect(detectMedia(toBytes('<svg onload="x()"></svg>'))).toBeNull()
  expect(detectMedia(toBytes('<html>'))).toBeNull()
})

test('an image is read once, and reported as ready', async () => {
  const { all } = createStore(PNG)
  await Promise.all([all.load({ hash: 'a', size: 6 }), all.load({ hash: 'a', size: 6 })])
  expect(all.get('a')).toEqual({ state: 'ready', address: 'blob:image/png:0' })
})

test('a failed read can be retried; a file that is not an image reads so', async () => {
  const failing = createStore(null).all
  await failing.load({ hash: 'a', size: 6 })
  expect(failing.get('a')?.state).toBe('failed')
  const none = createStore(toBytes('text')).all
  await none.load({ hash: 'a', size: 4 })
  expect(none.get('a')).toEqual({ state: 'unsupported', address: '' })
})

test('the oldest image is dropped when there are many', async () => {
  const { all, dropped } = createStore(PNG)
  for (let n = 0; n < 50; n++) await all.load({ hash: `h${n}`, size: 6 })
  expect(all.get('h0')).toBeUndefined()
  expect(dropped).toEqual(['blob:image/png:0', 'blob:image/png:1'])
})
