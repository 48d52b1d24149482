import { expect, test } from 'vitest'
import { ApiClient } from '../api/client'
import { AttachmentStore, MAX_FILES } from './attachment-store'

const createFile = (name: string) => new File(['abc'], name)

function createStore(answer: (path: string) => Response | Promise<Response>) {
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

const respondUploaded = () =>
  new Response(JSON.stringify({ upload: 'upl_a', name: 'a', media: 'text/plain', size: 3 }))
const awaitStates = (all: AttachmentStore) => expect.poll(() => all.listFiles('p').map((file) => file.state))

test('a file is ready when the server accepted it, and goes with its input', async () => {
  const { all, sent } = createStore(respondUploaded)
  all.add('p', [createFile('notes.txt')])
  expect(all.listFiles('p').map((file) => [file.state, file.share])).toEqual([['sending', 0.5]])
  await awaitStates(all).toEqual(['ready'])
  expect(sent).toEqual(['/api/v1/uploads?name=notes.txt'])
  expect(all.removeAll('p').map((file) => file.upload)).toEqual(['upl_a'])
  expect(all.listFiles('p')).toEqual([])
})

test('a refused file shows the reason and stays until it is removed', async () => {
  const refused = { code: 'too_large', message: 'It is too large.' }
  const { all } = createStore(() => new Response(JSON.stringify(refused), { status: 413 }))
  all.add('p', [createFile('big')])
  await awaitStates(all).toEqual(['failed'])
  expect(all.listFiles('p')[0]?.problem?.code).toBe('too_large')
  all.remove('p', all.listFiles('p')[0]?.id ?? '')
  expect(all.listFiles('p')).toEqual([])
})

test('refused files are restored before newer ones, up to the maximum', async () => {
  const { all } = createStore(respondUploaded)
  all.add('p', [createFile('first')])
  await awaitStates(all).toEqual(['ready'])
  const before = all.removeAll('p')
  all.add('p', [createFile('second')])
  all.restore('p', before)
  expect(all.listFiles('p').map((file) => file.name)).toEqual(['first', 'second'])
  all.add(
    'p',
    Array.from({ length: 40 }, (_, n) => createFile(`f${n}`)),
  )
  expect(all.listFiles('p')).toHaveLength(MAX_FILES)
})
