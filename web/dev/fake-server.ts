/** A fake server behind `fetch`. It sends the rows of a scenario and records the requests. */
import type { Op } from '../src/system/generated/contracts'

export interface Scenario {
  readonly workspace: readonly Op[]
  readonly sessions: Readonly<Record<string, readonly Op[]>>
  readonly openAtFirst?: string
  readonly meta?: Readonly<Record<string, unknown>>
  /** Answers to queries and commands by name. */
  readonly answers?: Readonly<Record<string, (body: Record<string, string>) => unknown>>
  /** Operations that are sent automatically, one batch per interval in milliseconds. */
  readonly play?: {
    readonly session: string
    readonly every: number
    readonly batches: readonly (readonly Op[])[]
  }
  readonly blobs?: Readonly<Record<string, string>>
}

export interface RecordedRequest {
  readonly name: string
  readonly body: Record<string, unknown>
  readonly key: string | null
}

export class RefusedAnswer {
  readonly status: number
  readonly body: unknown
  constructor(status: number, body: unknown) {
    this.status = status
    this.body = body
  }
}

type Viewer = (text: string) => void

export class FakeServer {
  readonly requests: RecordedRequest[] = []
  readonly opened: { readonly path: string; readonly cursor: string | null }[] = []
  readonly #scenario: Scenario
  readonly #viewers = new Map<string, Set<Viewer>>()
  /** Operations sent since the start. A late viewer receives them in the snapshot. */
  readonly #sent = new Map<string, readonly Op[]>()
  readonly #away = new Set<string>()
  #n = 0

  constructor(scenario: Scenario) {
    this.#scenario = scenario
  }

  get openAtFirst(): string | null {
    return this.#scenario.openAtFirst ?? null
  }

  readonly fetch = async (input: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input, 'http://callboard.test')
    const path = url.pathname.replace('/api/v1', '')
    if (path === '/meta') return respondJson({ ...META, ...this.#scenario.meta })
    if (path.endsWith('/ops')) return this.#openStream(path, init)
    const [, room = '', name = ''] = path.split('/')
    if (room === 'blobs') return new Response(this.#scenario.blobs?.[name] ?? '')
    if (room === 'uploads') {
      const sent = url.searchParams.get('name') ?? ''
      return respondJson({ upload: `upl_${sent}`, name: sent, media: 'application/octet-stream', size: 1 })
    }
    const body = room === 'queries' ? Object.fromEntries(url.searchParams) : JSON.parse(String(init.body))
    if (room === 'commands') {
      this.requests.push({ name, body, key: new Headers(init.headers).get('idempotency-key') })
    }
    const answer = (await this.#scenario.answers?.[name]?.(body)) ?? NOTHING[name] ?? {}
    return answer instanceof RefusedAnswer ? respondJson(answer.body, answer.status) : respondJson(answer)
  }

  /** Send operations to all viewers of a session or workspace. */
  send(id: string, ops: readonly Op[]): void {
    this.skip(id, ops)
    for (const viewer of this.#viewers.get(id) ?? []) viewer(this.#encodeMessage('ops', ops))
  }

  /** Record operations that no current viewer receives. */
  skip(id: string, ops: readonly Op[]): void {
    this.#sent.set(id, [...(this.#sent.get(id) ?? []), ...ops])
  }

  /** Refuse further streams of a session. */
  refuse(id: string): void {
    this.#away.add(id)
  }

  /** Close all streams, as a stopping server does. */
  drop(id: string): void {
    for (const viewer of this.#viewers.get(id) ?? []) viewer('')
    this.#viewers.delete(id)
  }

  play(): void {
    const play = this.#scenario.play
    if (play === undefined) return
    let next = 0
    const timer = setInterval(() => {
      const batch = play.batches[next++]
      if (batch === undefined) clearInterval(timer)
      else this.send(play.session, batch)
    }, play.every)
  }

  #openStream(path: string, init: RequestInit): Response {
    const id = path.split('/')[2] ?? ''
    this.opened.push({ path, cursor: new Headers(init.headers).get('last-event-id') })
    const ops = path.startsWith('/workspaces') ? this.#scenario.workspace : this.#scenario.sessions[id]
    if (this.#away.has(id)) throw new TypeError('the network is down')
    if (ops === undefined)
      return respondJson({ code: 'unknown_session', message: 'there is no such session' }, 404)
    const encoder = new TextEncoder()
    const viewers = this.#viewers.get(id) ?? new Set()
    this.#viewers.set(id, viewers)
    const first = this.#encodeMessage('snapshot', [...ops, ...(this.#sent.get(id) ?? [])])
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const receive: Viewer = (text) => {
          if (text === '') controller.close()
          else controller.enqueue(encoder.encode(text))
        }
        viewers.add(receive)
        controller.enqueue(encoder.encode(first))
        init.signal?.addEventListener('abort', () => {
          if (!viewers.delete(receive)) return
          controller.error(new DOMException('aborted', 'AbortError'))
        })
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }

  #encodeMessage(kind: 'snapshot' | 'ops', ops: readonly Op[]): string {
    return `id: 1000.${++this.#n}\nevent: ${kind}\ndata: ${JSON.stringify({ kind, ops })}\n\n`
  }
}

const NOTHING: Readonly<Record<string, unknown>> = {
  get_turns: { turns: [] },
  get_parts: { parts: [] },
  get_settings: { holding: {} },
  list_past_sessions: { sessions: [] },
}

const META = {
  version: '0.0.0',
  runtimeId: 'rtm_a/1',
  epoch: 1,
  storeId: 'rtm_a',
  models: [{ provider: 'openai', name: 'gpt-6-mini', label: 'gpt-6-mini' }],
  workspaces: [{ workspaceId: 'wks_a', path: '/home/ada/atlas', name: 'atlas', sample: true }],
}

function respondJson(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
}
