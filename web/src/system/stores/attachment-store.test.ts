import { expect, test } from 'vitest'
import { ApiClient } from '../api/client'
import { AttachmentStore, MAX_FILES } from './attachment-store'

const file = (name: string) => new File(['abc'], name)

function attachments(answer: (path: string) => Response | Promise<Response>) {
  const sent: string[] = []
  const api = new ApiClient(
    async () => new Response(),
    () => 'key',
    async (path, _file, onProgress) => {
      sent.push(path)
      onProgress(0.5)
      return answer(path)
    },
  )
  return { all: new AttachmentStore(api), sent }
}

const uploaded = () =>
  new Response(JSON.stringify({ upload: 'upl_a', name: 'a', media: 'text/plain', size: 3 }))
const settled = (all: AttachmentStore) => expect.poll(() => all.filesAt('p').map((file) => file.state))

test('a file is ready when the server accepted it, and goes with its input', async () => {
  const { all, sent } = attachments(uploaded)
  all.add('p', [file('notes.txt')])
  expect(all.filesAt('p').map((file) => [file.state, file.share])).toEqual([['sending', 0.5]])
  await settled(all).toEqual(['ready'])
  expect(sent).toEqual(['/api/v1/uploads?name=notes.txt'])
  expect(all.removeAll('p').map((file) => file.upload)).toEqual(['upl_a'])
  expect(all.filesAt('p')).toEqual([])
})

test('a refused file shows the reason and stays until it is removed', async () => {
  const refused = { code: 'too_large', message: 'It is too large.' }
  const { all } = attachments(() => new Response(JSON.stringify(refused), { status: 413 }))
  all.add('p', [file('big')])
  await settled(all).toEqual(['failed'])
  expect(all.filesAt('p')[0]?.problem?.code).toBe('too_large')
  all.remove('p', all.filesAt('p')[0]?.id ?? '')
  expect(all.filesAt('p')).toEqual([])
})

test('refused files are restored before newer ones, up to the maximum', async () => {
  const { all } = attachments(uploaded)
  all.add('p', [file('first')])
  await settled(all).toEqual(['ready'])
  const before = all.removeAll('p')
  all.add('p', [file('second')])
  all.restore('p', before)
  expect(all.filesAt('p').map((file) => file.name)).toEqual(['first', 'second'])
  all.add(
    'p',
    Array.from({ length: 40 }, (_, n) => file(`f${n}`)),
  )
  expect(all.filesAt('p')).toHaveLength(MAX_FILES)
})
