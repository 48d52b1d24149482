/** Defect X1: no other page and no tab of another origin receives the page's credential. */
import { webcrypto } from 'node:crypto'
import { expect, test } from 'vitest'
import { type Browser, type Channel, PageAccess } from './page-access'

/** A channel between the tabs of one origin. A tab does not receive its own messages. */
class Tabs {
  readonly #all = new Set<Channel>()
  open(): Channel {
    const channel: Channel = {
      onmessage: null,
      postMessage: (data) => {
        for (const other of this.#all) if (other !== channel) other.onmessage?.({ data } as MessageEvent)
      },
    }
    this.#all.add(channel)
    return channel
  }
}

/** A server that accepts each code once, and these credentials. */
function createServer(codes: string[], valid: Set<string>) {
  const requests: { readonly path: string; readonly authorization: string | null; readonly body: string }[] =
    []
  const fetch: Browser['fetch'] = async (path, init = {}) => {
    const authorization = new Headers(init.headers).get('authorization')
    requests.push({ path, authorization, body: String(init.body ?? '') })
    expect(init.credentials).toBe('omit')
    if (path === '/api/v1/page/credentials') {
      const { code } = JSON.parse(String(init.body)) as { code: string }
      const place = codes.indexOf(code)
      if (place < 0) return new Response('{}', { status: 401 })
      codes.splice(place, 1)
      valid.add(`of ${code}`)
      return new Response(JSON.stringify({ credential: `of ${code}` }))
    }
    if (!valid.has(authorization?.replace('Bearer ', '') ?? '')) return new Response('{}', { status: 401 })
    return new Response(JSON.stringify({ challenge: 'chl' }))
  }
  return { fetch, requests }
}

function openTab(fetch: Browser['fetch'], tabs: Tabs, hash = '', stored = new Map<string, string>()) {
  const place = { hash }
  const access = new PageAccess({
    fetch,
    storage: {
      getItem: (name) => stored.get(name) ?? null,
      setItem: (name, value) => void stored.set(name, value),
      removeItem: (name) => void stored.delete(name),
    },
    readHash: () => place.hash,
    replaceHash: (hash) => {
      place.hash = hash
    },
    channel: tabs.open(),
    crypto: webcrypto as unknown as Crypto,
  })
  return { access, place, kept: stored }
}

test('a code is redeemed once, and leaves the address before any request (X1)', async () => {
  const { fetch, requests } = createServer(['abc'], new Set())
  const { access, place, kept: stored } = openTab(fetch, new Tabs(), '#open=abc/s/ses_1')
  expect(place.hash).toBe('#/s/ses_1')
  expect((await access.fetch('/api/v1/meta')).status).toBe(200)
  expect(requests.map(({ path, authorization }) => [path, authorization])).toEqual([
    ['/api/v1/page/credentials', null],
    ['/api/v1/meta', 'Bearer of abc'],
  ])
  expect(JSON.parse(requests[0]?.body ?? '').proofKey).toHaveLength(44)
  expect([...stored.keys()]).toEqual(['callboard.credential'])
})

test('a reload keeps the tab’s credential, and another tab asks for it (X1)', async () => {
  const { fetch } = createServer(['abc'], new Set())
  const tabs = new Tabs()
  const first = openTab(fetch, tabs, '#open=abc')
  await first.access.fetch('/api/v1/meta')
  expect((await openTab(fetch, new Tabs(), '', first.kept).access.fetch('/api/v1/meta')).status).toBe(200)
  expect((await openTab(fetch, tabs).access.fetch('/api/v1/meta')).status).toBe(200)
  expect((await openTab(fetch, new Tabs()).access.fetch('/api/v1/meta')).status).toBe(401)
})

test('after a restart no tab passes the old credential on, and one new code serves all tabs (X1)', async () => {
  const valid = new Set<string>()
  const { fetch } = createServer(['abc', 'def'], valid)
  const tabs = new Tabs()
  const first = openTab(fetch, tabs, '#open=abc')
  await first.access.fetch('/api/v1/meta')
  const other = openTab(fetch, tabs)
  expect((await other.access.fetch('/api/v1/meta')).status).toBe(200)
  valid.clear()
  let changes = 0
  first.access.changes.subscribe(() => changes++)
  expect((await first.access.fetch('/api/v1/meta')).status).toBe(401)
  expect((await other.access.fetch('/api/v1/meta')).status).toBe(401)
  expect([first.kept.size, other.kept.size]).toEqual([0, 0])
  await openTab(fetch, tabs, '#open=def').access.fetch('/api/v1/meta')
  expect(changes).toBe(1)
  expect((await first.access.fetch('/api/v1/meta')).status).toBe(200)
  expect((await other.access.fetch('/api/v1/meta')).status).toBe(200)
})

test('a used code opens nothing (X1)', async () => {
  const { fetch } = createServer([], new Set())
  const { access, place } = openTab(fetch, new Tabs(), '#open=abc')
  expect(place.hash).toBe('#')
  expect((await access.fetch('/api/v1/meta')).status).toBe(401)
})

test('a confirmation is for one command with one body, by a key that is sent once (X1)', async () => {
  const { fetch, requests } = createServer(['abc'], new Set())
  const { access } = openTab(fetch, new Tabs(), '#open=abc')
  const body = '{"matcher":"Bash(ls)"}'
  const header = await access.confirm('add_rule', body)
  const { subtle } = webcrypto
  const digest = Buffer.from(await subtle.digest('SHA-256', Buffer.from(body))).toString('hex')
  const raw = Buffer.from(JSON.parse(requests[0]?.body ?? '').proofKey as string, 'base64')
  const key = await subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const proof = await subtle.sign('HMAC', key, Buffer.from(`chl\nadd_rule\n${digest}`))
  expect(header).toEqual({ 'callboard-confirmation': `chl.${Buffer.from(proof).toString('hex')}` })
  expect(JSON.parse(requests[1]?.body ?? '')).toEqual({ command: 'add_rule', bodySha256: digest })
})
