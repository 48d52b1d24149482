/** HTTP client for commands, queries, blobs and server metadata. No other file builds a request. */
import type { COMMANDS, CommandName, Commands } from '../generated/contracts'
import { ApiProblem, readProblem } from './problem'
import { awaitUpload, type Fetch, type SendFile, sendByFetch, type Upload } from './upload'

export interface ModelOffer {
  readonly provider: string
  readonly name: string
  readonly label: string
}

export interface WorkspaceOffer {
  readonly workspaceId: string
  readonly path: string
  readonly name: string
  /** Whether it is the folder that ships with the product. */
  readonly sample: boolean
}

/** A demo that the server can play. */
export interface DemoOffer {
  readonly name: string
  readonly title: string
}

/** Server metadata. */
export interface Meta {
  readonly version: string
  readonly runtimeId: string
  readonly epoch: number
  readonly storeId: string
  readonly models: readonly ModelOffer[]
  readonly workspaces: readonly WorkspaceOffer[]
  readonly demos?: readonly DemoOffer[]
}

/** Names of commands that only read. */
type QueryName = {
  [N in CommandName]: (typeof COMMANDS)[N]['query'] extends true ? N : never
}[CommandName]
type MutatingCommand = Exclude<CommandName, QueryName>
/**
 * Commands that the server accepts from a page only with a confirmation. So are approvals with a
 * wider scope than `once`.
 */
type GrantingCommand =
  | 'trust_workspace'
  | 'add_rule'
  | 'revoke_rule'
  | 'update_settings'
  | 'set_secret'
  | 'remove_secret'
/** Returns the header that confirms one command with one body. Raises ApiProblem. */
export type Confirmation = (command: string, body: string) => Promise<Readonly<Record<string, string>>>

const ROOT = '/api/v1'
const ATTEMPTS = 3

export class ApiClient {
  readonly #fetch: Fetch
  readonly #createKey: () => string

  readonly #sendFile: SendFile
  readonly #confirmation: Confirmation
  /**
   * Ask the person about a folder that the server refused as too broad. True if the person approved
   * and it is open.
   */
  approveFolder: () => Promise<boolean> = async () => false

  constructor(
    fetch: Fetch,
    createKey: () => string,
    sendFile: SendFile = sendByFetch(fetch),
    confirm: Confirmation = async () => ({}),
  ) {
    this.#fetch = fetch
    this.#createKey = createKey
    this.#sendFile = sendFile
    this.#confirmation = confirm
  }

  /**
   * Send a command. Each retry carries the same key, so the command takes effect once even if an
   * answer is lost. Raises ApiProblem with the refusal, or `unreachable` if there is no answer.
   */
  send<N extends Exclude<MutatingCommand, GrantingCommand>>(
    name: N,
    body: Commands[N]['command'],
    key: string = this.#createKey(),
  ): Promise<Commands[N]['answer']> {
    return this.#send(name, JSON.stringify(body), key, async () => ({}))
  }

  /**
   * Send a command that grants more permission. Call it only after the person confirmed exactly this:
   * the server requires a fresh confirmation, which this method creates.
   */
  sendConfirmed<N extends MutatingCommand>(
    name: N,
    body: Commands[N]['command'],
    key: string = this.#createKey(),
  ): Promise<Commands[N]['answer']> {
    const sent = JSON.stringify(body)
    return this.#send(name, sent, key, () => this.#confirmation(name, sent))
  }

  async #send<N extends MutatingCommand>(
    name: N,
    body: string,
    key: string,
    confirmation: () => Promise<Readonly<Record<string, string>>>,
  ): Promise<Commands[N]['answer']> {
    let askedApproval = false
    for (let attempt = 1; ; attempt++) {
      try {
        // A confirmation is valid for one request, so each retry needs a new one.
        const headers = {
          'content-type': 'application/json',
          'idempotency-key': key,
          ...(await confirmation()),
        }
        return await this.#requestJson(`${ROOT}/commands/${name}`, { method: 'POST', headers, body })
      } catch (error) {
        const broad = error instanceof ApiProblem && error.code === 'folder_too_broad'
        // `open_workspace` itself carries the approval.
        if (broad && name !== 'open_workspace' && !askedApproval) {
          askedApproval = true
          if (await this.approveFolder()) continue
        }
        if (attempt === ATTEMPTS || !(error instanceof ApiProblem) || !error.isUnanswered) throw error
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
    const queryString = search.size > 0 ? `?${search}` : ''
    return this.#requestJson(`${ROOT}/queries/${name}${queryString}`, signal === undefined ? {} : { signal })
  }

  readMeta(): Promise<Meta> {
    return this.#requestJson(`${ROOT}/meta`, {})
  }

  /** Upload a file, to be attached to an input. Raises ApiProblem. */
  upload(
    name: string,
    file: Blob,
    onProgress: (share: number) => void,
    signal: AbortSignal,
  ): Promise<Upload> {
    const path = `${ROOT}/uploads?${new URLSearchParams({ name })}`
    return awaitUpload(this.#sendFile(path, file, onProgress, signal), signal)
  }

  /** Read a whole blob of a session that exists. Raises ApiProblem. */
  async readFile(hash: string, session: string): Promise<Blob> {
    return (await this.#request(`${ROOT}/blobs/${hash}?${new URLSearchParams({ session })}`, {})).blob()
  }

  /** Read `length` bytes of a blob from `offset`. */
  async readBlob(hash: string, offset: number, length: number): Promise<Uint8Array> {
    const response = await this.#request(`${ROOT}/blobs/${hash}?offset=${offset}&length=${length}`, {})
    return new Uint8Array(await response.arrayBuffer())
  }

  /**
   * Open an event stream. It continues after `lastEventId`, or starts with a snapshot if that is
   * null.
   */
  async openStream(path: string, lastEventId: string | null, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (lastEventId !== null) headers['last-event-id'] = lastEventId
    return this.#request(`${ROOT}${path}`, { headers, signal, cache: 'no-store' })
  }

  async #requestJson<T>(path: string, init: RequestInit): Promise<T> {
    const response = await this.#request(path, init)
    return (await response.json()) as T
  }

  async #request(path: string, init: RequestInit): Promise<Response> {
    let response: Response
    try {
      response = await this.#fetch(path, { ...init, credentials: 'omit' })
    } catch (error) {
      if (init.signal?.aborted) throw error
      throw new ApiProblem(0, { code: 'unreachable', message: String(error) })
    }
    if (!response.ok) throw await readProblem(response)
    return response
  }
}
