/** Tool inventories and process output, read on demand. */
import type { ApiClient } from '../api/client'
import type { ToolInventory } from '../generated/contracts'
import { fillRow, type ProcessRow } from '../rows/model'
import { Signal } from '../signal'

export type InventoryRead =
  | { readonly state: 'loading' | 'failed' }
  | { readonly state: 'read'; readonly inventory: ToolInventory }

export class ToolStore {
  readonly changes = new Signal()
  readonly #api: ApiClient
  readonly #inventories = new Map<string, InventoryRead>()
  /** The latest output of running processes by id. Their rows hold it only after they end. */
  readonly #processes = new Map<string, ProcessRow>()

  constructor(api: ApiClient) {
    this.#api = api
  }

  getInventory(sessionId: string, threadId: string | null): InventoryRead | null {
    return this.#inventories.get(`${sessionId} ${threadId}`) ?? null
  }

  /** Read an inventory again. The previous one stays until the new one is here. */
  async readInventory(sessionId: string, threadId: string | null): Promise<void> {
    const key = `${sessionId} ${threadId}`
    if (this.#inventories.get(key)?.state !== 'read') this.#put(key, { state: 'loading' })
    try {
      const parameters = threadId === null ? { sessionId } : { sessionId, threadId }
      this.#put(key, { state: 'read', inventory: await this.#api.query('get_tool_inventory', parameters) })
    } catch {
      if (this.#inventories.get(key)?.state !== 'read') this.#put(key, { state: 'failed' })
    }
  }

  /** The row of a process, with its latest output while it is running. */
  getProcess(row: ProcessRow): ProcessRow {
    const read = this.#processes.get(row.processId)
    return row.state !== 'running' || read === undefined ? row : { ...row, output: read.output }
  }

  /** Read the output of a session's running processes. Keeps the previous output on failure. */
  async readProcesses(sessionId: string): Promise<void> {
    try {
      const { processes } = await this.#api.query('list_processes', { sessionId })
      for (const process of processes) {
        const row = fillRow(process)
        if (row?.kind === 'process') this.#processes.set(row.processId, row)
      }
      this.changes.emit()
    } catch {
      // The rows still list the processes.
    }
  }

  #put(key: string, read: InventoryRead): void {
    this.#inventories.set(key, read)
    this.changes.emit()
  }
}
