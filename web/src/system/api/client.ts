/** The HTTP boundary: commands, reads, blobs and what the server is. The only place that builds a request. */
import type { COMMANDS, CommandName, Commands } from '../generated/contracts'
import { ApiProblem, problemOf } from './problem'
import { type Fetch, type SendFile, sendByFetch, type Upload, uploaded } from './upload'

export interface ModelOffer {
  readonly provider: string
  readonly name: string
  readonly label: string
}

export interface WorkspaceOffer {
  readonly workspaceId: string
  readonly path: string
  readonly name: string
  /** Whether it is the folder that comes with the product. */
  readonly sample: boolean
}

/** A demo that the server plays. */
export interface DemoOffer {
  readonly name: string
  readonly title: string
}

/** What the server says of itself. */
export interface Meta {
  readonly version: string
  readonly runtimeId: string
  readonly epoch: number
  readonly storeId: string
  readonly models: readonly ModelOffer[]
  readonly workspaces: readonly WorkspaceOffer[]
  readonly demos?: readonly DemoOffer[]
}

/** Names of what only reads, by the table of commands. */
type QueryName = {
  [N in CommandName]: (typeof COMMANDS)[N]['query'] extends true ? N : never
}[CommandName]
type Mutating = Exclude<CommandName, QueryName>

const ROOT = '/api/v1'
const ATTEMPTS = 3

export class ApiClient {
  readonly #fetch: Fetch
  readonly #newKey: () => string

  readonly #sendFile: SendFile

  constructor(fetch: Fetch, newKey: () => string, sendFile: SendFile = sendByFetch(fetch)) {
    this.#fetch = fetch
    this.#newKey = newKey
    this.#sendFile = sendFile
  }

  /**
   * Give a command. The same key goes with every repeat, so a command whose answer was lost has one effect.
   * Raises ApiProblem with the refusal, or `unreachable` where no answer came.
   */
  async command<N extends Mutating>(
    name: N,
    body: Commands[N]['command'],
    key: string = this.#newKey(),
  ): Promise<Commands[N]['answer']> {
    const init: RequestInit = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#json(`${ROOT}/commands/${name}`, init)
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof ApiProblem) || !error.unanswered) throw error
      }
    }
  }

  query<N extends QueryName>(
    name: N,
    parameters: Commands[N]['command'],
    signal?: AbortSignal,
  ): Promise<Commands[N]['answer']> {
    const search = new URLSearchParams()
    for (const [field, value] of Object.entries(parameters)) {
      if (Array.isArray(value)) for (const one of value) search.append(field, String(one))
      else if (value !== undefined && value !== null) search.set(field, String(value))
    }
    const asked = search.size > 0 ? `?${search}` : ''
    return this.#json(`${ROOT}/queries/${name}${asked}`, signal === undefined ? {} : { signal })
  }

  meta(): Promise<Meta> {
    return this.#json(`${ROOT}/meta`, {})
  }

  /** Send a file to be named by an input. Raises ApiProblem. */
  upload(
    name: string,
    file: Blob,
    onProgress: (share: number) => void,
    signal: AbortSignal,
  ): Promise<Upload> {
    const path = `${ROOT}/uploads?${new URLSearchParams({ name })}`
    return uploaded(this.#sendFile(path, file, onProgress, signal), signal)
  }

  /** Where the whole of a blob is downloaded from as a file of that name, as long as its session is there. */
  blobAddress(hash: string, session: string, name: string): string {
    return `${ROOT}/blobs/${hash}?${new URLSearchParams({ session, name })}`
  }

  /** Part of a blob as text: `length` bytes from `offset`. */
  async blob(hash: string, offset: number, length: number): Promise<Uint8Array> {
    const response = await this.#answer(`${ROOT}/blobs/${hash}?offset=${offset}&length=${length}`, {})
    return new Uint8Array(await response.arrayBuffer())
  }

  /** An event stream that goes on after `lastEventId`, or starts with a snapshot where that is null. */
  async stream(path: string, lastEventId: string | null, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (lastEventId !== null) headers['last-event-id'] = lastEventId
    return this.#answer(`${ROOT}${path}`, { headers, signal, cache: 'no-store' })
  }

  async #json<T>(path: string, init: RequestInit): Promise<T> {
    const response = await this.#answer(path, init)
    return (await response.json()) as T
  }

  async #answer(path: string, init: RequestInit): Promise<Response> {
    let response: Response
    try {
      response = await this.#fetch(path, { ...init, credentials: 'same-origin' })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw new ApiProblem(0, { code: 'unreachable', message: String(error) })
    }
    if (!response.ok) throw await problemOf(response)
    return response
  }
}
