/** Whether the folder on the screen may widen anything, and what its own files would allow. */
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

  /** What was read of this workspace last; null where nothing was. */
  of(workspaceId: string): TrustRead | null {
    return this.#read?.workspaceId === workspaceId ? this.#read : null
  }

  /** Whether the person said "not now" to exactly what the files ask for. */
  dismissed({ workspaceId, digest }: TrustRead): boolean {
    return this.#values.read(`trust.${workspaceId}`) === digest
  }

  dismiss({ workspaceId, digest }: TrustRead): void {
    this.#values.write(`trust.${workspaceId}`, digest)
    this.changes.emit()
  }

  /** Read it anew. What cannot be read is not shown as anything. What comes late for another workspace is dropped. */
  async look(workspaceId: string): Promise<void> {
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

  /** Trust the folder for exactly what was shown. Raises ApiProblem; then what the files ask for by now is read. */
  async trust({ workspaceId, digest }: TrustRead): Promise<void> {
    try {
      await this.#api.confirmed('trust_workspace', { workspaceId, digest })
    } finally {
      await this.look(workspaceId)
    }
  }

  /** Raises ApiProblem. */
  async revoke(workspaceId: string): Promise<void> {
    try {
      await this.#api.command('revoke_trust', { workspaceId })
    } finally {
      await this.look(workspaceId)
    }
  }
}
