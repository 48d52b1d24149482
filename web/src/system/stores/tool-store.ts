/** Which tools an agent has, and what its commands have running. Read on demand; rows tell when to read again. */
import type { ApiClient } from '../api/client'
import type { ToolInventory } from '../generated/contracts'
import { fill, type ProcessRow } from '../rows/model'
import { Signal } from '../signal'

export type InventoryRead =
  | { readonly state: 'loading' | 'failed' }
  | { readonly state: 'read'; readonly inventory: ToolInventory }

export class ToolStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  readonly #inventories = new Map<string, InventoryRead>()
  /** The newest output of processes that run, by id: rows tell of it only when they are over. */
  readonly #processes = new Map<string, ProcessRow>()

  constructor(api: ApiClient) {
    this.#api = api
  }

  inventory(sessionId: string, threadId: string | null): InventoryRead | null {
    return this.#inventories.get(`${sessionId} ${threadId}`) ?? null
  }

  /** Read it anew; what was read stays until the new is there. */
  async readInventory(sessionId: string, threadId: string | null): Promise<void> {
    const key = `${sessionId} ${threadId}`
    if (this.#inventories.get(key)?.state !== 'read') this.#put(key, { state: 'loading' })
    try {
      const asked = threadId === null ? { sessionId } : { sessionId, threadId }
      this.#put(key, { state: 'read', inventory: await this.#api.query('get_tool_inventory', asked) })
    } catch {
      if (this.#inventories.get(key)?.state !== 'read') this.#put(key, { state: 'failed' })
    }
  }

  /** A process as it is: its row, with the newest of its output while it runs. */
  process(row: ProcessRow): ProcessRow {
    const read = this.#processes.get(row.processId)
    return row.state !== 'running' || read === undefined ? row : { ...row, output: read.output }
  }

  /** Read what the running processes of a session printed. What cannot be read stays as it was. */
  async readProcesses(sessionId: string): Promise<void> {
    try {
      const { processes } = await this.#api.query('list_processes', { sessionId })
      for (const process of processes) {
        const row = fill(process)
        if (row?.kind === 'process') this.#processes.set(row.processId, row)
      }
      this.changes.emit()
    } catch {
      // The rows still tell which there are.
    }
  }

  #put(key: string, read: InventoryRead): void {
    this.#inventories.set(key, read)
    this.changes.emit()
  }
}
