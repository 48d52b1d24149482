import { expect, test } from 'vitest'
import { ApiClient } from './client'
import { ApiProblem } from './problem'

interface RecordedRequest {
  readonly path: string
  readonly init: RequestInit
}

function createClient(answers: (requests: RecordedRequest) => Response | Promise<Response>) {
  const requests: RecordedRequest[] = []
  let keys = 0
  const api = new ApiClient(
    async (path, init = {}) => {
      requests.push({ path, init })
      return answers({ path, init })
    },
    () => `key_${++keys}`,
  )
  return { api, asked: requests }
}

const respondJson = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status })

test('a command is one POST with its key and no cookie', async () => {
  const answer = { sessionId: 'ses_a', threadId: 'thr_a', turnId: '', sequence: 9 }
  const { api, asked: requests } = createClient(() => respondJson(answer))
  expect(await api.send('resume_thread', { sessionId: 'ses_a' })).toEqual(answer)
  expect(requests).toEqual([
    {
      path: '/api/v1/commands/resume_thread',
      init: {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'key_1' },
        body: '{"sessionId":"ses_a"}',
        credentials: 'omit',
      },
    },
  ])
})

test('a command whose answer was lost is repeated with the same key (CTL-01)', async () => {
  let lost = 2
  const { api, asked: requests } = createClient(() => {
    if (lost-- > 0) throw new TypeError('network')
    return respondJson({})
  })
  await api.send('resume_thread', { sessionId: 'ses_a' })
  const keys = requests.map(({ init }) => new Headers(init.headers).get('idempotency-key'))
  expect(keys).toEqual(['key_1', 'key_1', 'key_1'])
})

test('a refusal is not repeated and keeps its code, field and hint', async () => {
  const problem = { code: 'thread_busy', message: 'a turn is running', field: 'whenBusy', hint: 'queue it' }
  const { api, asked: requests } = createClient(() => respondJson(problem, 409))
  const refused = await api.send('resume_thread', { sessionId: 'ses_a' }).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ApiProblem)
  expect(refused).toMatchObject({ status: 409, ...problem })
  expect(requests).toHaveLength(1)
})

test('an error that is not a problem document is reported by its status', async () => {
  const { api } = createClient(() => new Response('<html>', { status: 502 }))
  await expect(api.readMeta()).rejects.toMatchObject({ code: 'internal', status: 502, message: 'HTTP 502' })
})

test('a query sends set fields and leaves out the others', async () => {
  const { api, asked: requests } = createClient(() => respondJson({ turns: [] }))
  await api.query('get_turns', { sessionId: 'ses a', before: 0, limit: 20 })
  await api.query('get_turns', { sessionId: 'ses_a', before: null })
  expect(requests.map(({ path }) => path)).toEqual([
    '/api/v1/queries/get_turns?sessionId=ses+a&before=0&limit=20',
    '/api/v1/queries/get_turns?sessionId=ses_a',
  ])
})

test('a stream names the last event', async () => {
  const { api, asked: requests } = createClient(() => new Response(''))
  const { signal } = new AbortController()
  await api.openStream('/sessions/ses_a/ops', null, signal)
  await api.openStream('/sessions/ses_a/ops', '7.2', signal)
  expect(requests.map(({ init }) => new Headers(init.headers).get('last-event-id'))).toEqual([null, '7.2'])
})
