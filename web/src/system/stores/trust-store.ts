/** The trust state of the workspace on the screen, and the permissions that its files request. */
import type { ApiClient } from '../api/client'
import type { TrustRead } from '../generated/contracts'
import type { LocalValues } from '../local/local-values'
import { Signal } from '../signal'

export class TrustStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  readonly #values: LocalValues
  #read: TrustRead | null = null
  #workspaceId = ''

  constructor(api: ApiClient, values: LocalValues) {
    this.#api = api
    this.#values = values
  }

  /** The trust state of a workspace as last read; null if it was not read. */
  get(workspaceId: string): TrustRead | null {
    return this.#read?.workspaceId === workspaceId ? this.#read : null
  }

  /** Whether the person chose "Not now" for exactly these permissions. */
  isDismissed({ workspaceId, digest }: TrustRead): boolean {
    return this.#values.read(`trust.${workspaceId}`) === digest
  }

  dismiss({ workspaceId, digest }: TrustRead): void {
    this.#values.write(`trust.${workspaceId}`, digest)
    this.changes.emit()
  }

  /**
   * Read the trust state. On failure there is none. A late answer for another workspace is dropped.
   */
  async refresh(workspaceId: string): Promise<void> {
    this.#workspaceId = workspaceId
    if (workspaceId === '') return
    try {
      const read = await this.#api.query('get_trust', { workspaceId })
      if (this.#workspaceId === workspaceId) this.#read = read
    } catch {
      if (this.#workspaceId === workspaceId) this.#read = null
    }
    this.changes.emit()
  }

  /**
   * Grant exactly the permissions that were shown, then read the state again. Raises ApiProblem.
   */
  async trust({ workspaceId, digest }: TrustRead): Promise<void> {
    try {
      await this.#api.sendConfirmed('trust_workspace', { workspaceId, digest })
    } finally {
      await this.refresh(workspaceId)
    }
  }

  /** Raises ApiProblem. */
  async revoke(workspaceId: string): Promise<void> {
    try {
      await this.#api.send('revoke_trust', { workspaceId })
    } finally {
      await this.refresh(workspaceId)
    }
  }
}
