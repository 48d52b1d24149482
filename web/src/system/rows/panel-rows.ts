/** The rows of one panel, by key and in order. */
import type { AnyRow } from './model'

export class PanelRows<R extends AnyRow = AnyRow> {
  readonly #rows = new Map<string, R>()
  readonly #byTurn = new Map<string, Set<string>>()
  readonly #sortedByTurn = new Map<string, readonly R[]>()
  #sorted: readonly R[] | null = null

  get(key: string): R | undefined {
    return this.#rows.get(key)
  }

  get size(): number {
    return this.#rows.size
  }

  /** All rows in order. The array is the same until a row changes. */
  list(): readonly R[] {
    this.#sorted ??= [...this.#rows.values()].sort(compareRows)
    return this.#sorted
  }

  /** The rows of one turn in order. The array is the same until one of them changes. */
  listTurn(turnId: string): readonly R[] {
    const cached = this.#sortedByTurn.get(turnId)
    if (cached !== undefined) return cached
    const rows: R[] = []
    for (const key of this.#byTurn.get(turnId) ?? []) {
      const row = this.#rows.get(key)
      if (row !== undefined) rows.push(row)
    }
    rows.sort(compareRows)
    this.#sortedByTurn.set(turnId, rows)
    return rows
  }

  put(row: R): void {
    const before = this.#rows.get(row.key)
    const turn = getTurnId(row)
    if (before !== undefined && getTurnId(before) !== turn) this.#forget(before)
    this.#rows.set(row.key, row)
    this.#touch(turn)
    if (turn === '') return
    const keys = this.#byTurn.get(turn)
    if (keys === undefined) this.#byTurn.set(turn, new Set([row.key]))
    else keys.add(row.key)
  }

  drop(key: string): boolean {
    const row = this.#rows.get(key)
    if (row === undefined) return false
    this.#rows.delete(key)
    this.#forget(row)
    return true
  }

  #forget(row: R): void {
    const turn = getTurnId(row)
    this.#byTurn.get(turn)?.delete(row.key)
    this.#touch(turn)
  }

  #touch(turn: string): void {
    this.#sorted = null
    this.#sortedByTurn.delete(turn)
  }
}

function getTurnId(row: AnyRow): string {
  return 'turnId' in row ? row.turnId : ''
}

function compareRows(a: AnyRow, b: AnyRow): number {
  if (a.order !== b.order) return a.order - b.order
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}
