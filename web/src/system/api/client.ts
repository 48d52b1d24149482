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
/** Commands that the server takes from a page only with a confirmation. Wider answers to an action are confirmed as well. */
type Granting =
  | 'trust_workspace'
  | 'add_rule'
  | 'revoke_rule'
  | 'update_settings'
  | 'set_secret'
  | 'remove_secret'
/** The header that confirms one command with one body. Fails like a request. */
export type Confirmation = (command: string, body: string) => Promise<Readonly<Record<string, string>>>

const ROOT = '/api/v1'
const ATTEMPTS = 3

export class ApiClient {
  readonly #fetch: Fetch
  readonly #newKey: () => string

  readonly #sendFile: SendFile
  readonly #confirmation: Confirmation
  /** Asks a person about a folder that the server refused as too broad; true where it was opened with an approval. */
  approveFolder: () => Promise<boolean> = async () => false

  constructor(
    fetch: Fetch,
    newKey: () => string,
    sendFile: SendFile = sendByFetch(fetch),
    confirmation: Confirmation = async () => ({}),
  ) {
    this.#fetch = fetch
    this.#newKey = newKey
    this.#sendFile = sendFile
    this.#confirmation = confirmation
  }

  /**
   * Give a command. The same key goes with every repeat, so a command whose answer was lost has one effect.
   * Raises ApiProblem with the refusal, or `unreachable` where no answer came.
   */
  command<N extends Exclude<Mutating, Granting>>(
    name: N,
    body: Commands[N]['command'],
    key: string = this.#newKey(),
  ): Promise<Commands[N]['answer']> {
    return this.#command(name, JSON.stringify(body), key, async () => ({}))
  }

  /**
   * Give a command that grants more permission. Call it where a person confirmed exactly this on the screen: the server takes
   * it only with a fresh confirmation, which is made here.
   */
  confirmed<N extends Mutating>(
    name: N,
    body: Commands[N]['command'],
    key: string = this.#newKey(),
  ): Promise<Commands[N]['answer']> {
    const sent = JSON.stringify(body)
    return this.#command(name, sent, key, () => this.#confirmation(name, sent))
  }

  async #command<N extends Mutating>(
    name: N,
    body: string,
    key: string,
    confirmation: () => Promise<Readonly<Record<string, string>>>,
  ): Promise<Commands[N]['answer']> {
    let asked = false
    for (let attempt = 1; ; attempt++) {
      try {
        // A confirmation is for one request: a repeat has one of its own.
        const headers = {
          'content-type': 'application/json',
          'idempotency-key': key,
          ...(await confirmation()),
        }
        return await this.#json(`${ROOT}/commands/${name}`, { method: 'POST', headers, body })
      } catch (error) {
        const broad = error instanceof ApiProblem && error.code === 'folder_too_broad'
        // The command that opens the folder is what the approval is given with.
        if (broad && name !== 'open_workspace' && !asked) {
          asked = true
          if (await this.approveFolder()) continue
        }
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
      if (Array.isArray(value)) for (const item of value) search.append(field, String(item))
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

  /** The whole of a blob, as long as its session is there. Raises ApiProblem. */
  async file(hash: string, session: string): Promise<Blob> {
    return (await this.#answer(`${ROOT}/blobs/${hash}?${new URLSearchParams({ session })}`, {})).blob()
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
      response = await this.#fetch(path, { ...init, credentials: 'omit' })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw new ApiProblem(0, { code: 'unreachable', message: String(error) })
    }
    if (!response.ok) throw await problemOf(response)
    return response
  }
}
