/**
 * The rows of one session or workspace, changed only by row operations.
 *
 * The store knows no transport. It returns `gap` if an operation does not fit its rows; the caller
 * then fetches a snapshot.
 */
import { type BlobRef, type Op, SESSION_PANELS, WORKSPACE_PANELS } from '../generated/contracts'
import { Signal } from '../signal'
import { countCharacters, skipCharacters } from './characters'
import {
  type AnyRow,
  fillRow,
  findFirstBegun,
  hasBegun,
  type Panel,
  type Panels,
  readText,
  type Text,
} from './model'
import { PanelRows } from './panel-rows'

export type Applied = 'applied' | 'gap'

/** Receives a complete text when its row changes to a preview and a ref. */
export type OnOffloaded = (ref: BlobRef, text: string) => void

type Tables = { [P in Panel]: PanelRows<Panels[P]> }

const PANELS: readonly Panel[] = [...SESSION_PANELS, ...WORKSPACE_PANELS]

/** Fields that grow while a part is streaming. */
const STREAMED = ['content', 'output', 'arguments']

function getText(row: AnyRow, field: string): Text | undefined {
  return (row as unknown as Record<string, Text | undefined>)[field]
}

function createTables(): Tables {
  const tables = Object.fromEntries(PANELS.map((panel) => [panel, new PanelRows()]))
  return tables as unknown as Tables
}

export class RowStore {
  #tables = createTables()
  /**
   * Length of each growing field in characters, so that an append does not count the whole text.
   */
  #lengths = new Map<string, number>()
  readonly changes = new Signal()
  readonly #onOffloaded: OnOffloaded

  constructor(onOffloaded: OnOffloaded = () => {}) {
    this.#onOffloaded = onOffloaded
  }

  getPanel<P extends Panel>(name: P): PanelRows<Panels[P]> {
    return this.#tables[name]
  }

  /**
   * Apply operations in order. On a gap, the operations before it stay applied and the rest is
   * dropped.
   */
  apply(ops: readonly Op[]): Applied {
    let outcome: Applied = 'applied'
    for (const op of ops) {
      if (this.#applyOp(op) === 'gap') {
        outcome = 'gap'
        break
      }
    }
    this.changes.emit()
    return outcome
  }

  /**
   * Replace all rows by a snapshot. Older turns that were read page by page are kept if they adjoin the
   * snapshot's window; otherwise they are dropped and can be read again.
   */
  replace(ops: readonly Op[]): Applied {
    const before = this.#tables
    this.#tables = createTables()
    this.#lengths = new Map()
    let outcome: Applied = 'applied'
    for (const op of ops) if (this.#applyOp(op) === 'gap') outcome = 'gap'
    this.#keepOlderTurns(before)
    this.changes.emit()
    return outcome
  }

  /**
   * Add rows of a query. An existing row is newer, because it came through the stream, and stays.
   */
  merge(panel: Panel, rows: readonly Parameters<typeof fillRow>[0][]): void {
    for (const row of rows) {
      const filled = fillRow(row)
      if (filled !== null && this.#getTable(panel).get(filled.key) === undefined)
        this.#getTable(panel).put(filled)
    }
    this.changes.emit()
  }

  #applyOp(op: Op): Applied {
    if (!PANELS.includes(op.panel as Panel)) return 'applied'
    const table = this.#getTable(op.panel as Panel)
    switch (op.op) {
      case 'upsert':
        this.#upsert(op.panel, table, fillRow(op.row))
        return 'applied'
      case 'remove':
        table.drop(op.key)
        return 'applied'
      case 'append':
        return this.#append(table, op)
    }
  }

  #upsert(panel: string, table: PanelRows, row: AnyRow | null): void {
    if (row === null) return
    const existing = table.get(row.key)
    if (existing !== undefined && existing.sequence > row.sequence) return
    table.put(row)
    for (const field of STREAMED) {
      this.#lengths.delete(`${panel} ${row.key} ${field}`)
      const ref = getText(row, field)?.ref ?? null
      const streamed = existing === undefined ? undefined : getText(existing, field)
      const revised = 'revised' in row && row.revised
      if (ref !== null && streamed?.ref === null && !revised) this.#onOffloaded(ref, streamed.text)
    }
  }

  #append(table: PanelRows, op: Extract<Op, { op: 'append' }>): Applied {
    const row = table.get(op.key)
    if (row === undefined) return 'gap'
    const text = getText(row, op.field) ?? readText(null)
    const name = `${op.panel} ${op.key} ${op.field}`
    const length = this.#lengths.get(name) ?? countCharacters(text.text)
    if (length < op.offset) return 'gap'
    const fresh = length === op.offset ? op.text : skipCharacters(op.text, length - op.offset)
    if (fresh !== '') {
      table.put({ ...row, [op.field]: { ...text, text: text.text + fresh } } as AnyRow)
    }
    this.#lengths.set(name, length + countCharacters(fresh))
    return 'applied'
  }

  #keepOlderTurns(before: Tables): void {
    const first = findFirstBegun(this.#tables.turns.list())
    const joint = first === undefined ? undefined : before.turns.get(first.key)
    if (first === undefined || joint === undefined || joint.order !== first.order) return
    for (const turn of before.turns.list()) {
      if (turn.order >= first.order || !hasBegun(turn) || this.#tables.turns.get(turn.key) !== undefined)
        continue
      this.#tables.turns.put(turn)
      for (const part of before.parts.listTurn(turn.turnId)) this.#tables.parts.put(part)
    }
  }

  #getTable(panel: Panel): PanelRows {
    return this.#tables[panel] as unknown as PanelRows
  }
}
