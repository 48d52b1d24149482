/** The evidence export of a session or task: running, or ready to save. One at a time. */
import type { ApiClient } from '../api/client'
import type { EvidencePacked } from '../generated/contracts'
import { Signal } from '../signal'

export class EvidenceStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  #packing = false
  #packed: EvidencePacked | null = null

  constructor(api: ApiClient) {
    this.#api = api
  }

  get packing(): boolean {
    return this.#packing
  }

  /** The latest export that was not dismissed; null if there is none. */
  get packed(): EvidencePacked | null {
    return this.#packed
  }

  /**
   * Export a session, or one of its tasks. Does nothing while an export is running. Raises
   * ApiProblem.
   */
  async export(sessionId: string, taskId: string | null): Promise<void> {
    if (this.#packing) return
    this.#set(true, null)
    try {
      this.#set(false, await this.#api.send('export_evidence', { sessionId, taskId }))
    } finally {
      if (this.#packing) this.#set(false, null)
    }
  }

  dismiss(): void {
    this.#set(this.#packing, null)
  }

  #set(packing: boolean, packed: EvidencePacked | null): void {
    this.#packing = packing
    this.#packed = packed
    this.changes.emit()
  }
}
