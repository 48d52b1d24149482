/** Evidence that a person asked for: being packed, or ready to be kept. One at a time. */
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

  /** What was packed last and is not dismissed; null where there is none. */
  get packed(): EvidencePacked | null {
    return this.#packed
  }

  /** Have a session packed, or what is of one of its tasks. Raises ApiProblem. While one is being packed this does nothing. */
  async export(sessionId: string, taskId: string | null): Promise<void> {
    if (this.#packing) return
    this.#set(true, null)
    try {
      this.#set(false, await this.#api.command('export_evidence', { sessionId, taskId }))
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
