/**
 * The rows of one session or workspace, changed by row operations and by nothing else.
 *
 * The store knows no transport. It tells its caller when an operation does not fit what is here (a gap), and the caller
 * gets a snapshot; nothing is guessed.
 */
import { type BlobRef, type Op, SESSION_PANELS, WORKSPACE_PANELS } from '../generated/contracts'
import { Signal } from '../signal'
import { afterCharacters, countCharacters } from './characters'
import { type AnyRow, asText, fill, firstBegun, hasBegun, type Panel, type Panels, type Text } from './model'
import { PanelRows } from './panel-rows'

export type Applied = 'applied' | 'gap'

/** Text that was here in full when its row came to hold a preview and a ref instead. */
export type OnOffloaded = (ref: BlobRef, text: string) => void

type Tables = { [P in Panel]: PanelRows<Panels[P]> }

const PANELS: readonly Panel[] = [...SESSION_PANELS, ...WORKSPACE_PANELS]

/** The fields that grow while a part is in the making. */
const STREAMED = ['content', 'output', 'arguments']

function textOf(row: AnyRow, field: string): Text | undefined {
  return (row as unknown as Record<string, Text | undefined>)[field]
}

function empty(): Tables {
  const tables = Object.fromEntries(PANELS.map((panel) => [panel, new PanelRows()]))
  return tables as unknown as Tables
}

export class RowStore {
  #tables = empty()
  /** Characters in a field that is being appended to, so that an append need not count the whole text. */
  #lengths = new Map<string, number>()
  readonly changes = new Signal()
  readonly #onOffloaded: OnOffloaded

  constructor(onOffloaded: OnOffloaded = () => {}) {
    this.#onOffloaded = onOffloaded
  }

  panel<P extends Panel>(name: P): PanelRows<Panels[P]> {
    return this.#tables[name]
  }

  /** Apply operations in their order. On a gap the operations before it stay applied and the rest is dropped. */
  apply(ops: readonly Op[]): Applied {
    let outcome: Applied = 'applied'
    for (const op of ops) {
      if (this.#applyOne(op) === 'gap') {
        outcome = 'gap'
        break
      }
    }
    this.changes.emit()
    return outcome
  }

  /**
   * Put a snapshot in the place of everything. Turns that were read page by page and that stand before the snapshot's
   * window are kept where the window joins on to them; where it does not, they are dropped and can be read again.
   */
  replace(ops: readonly Op[]): Applied {
    const before = this.#tables
    this.#tables = empty()
    this.#lengths = new Map()
    let outcome: Applied = 'applied'
    for (const op of ops) if (this.#applyOne(op) === 'gap') outcome = 'gap'
    this.#keepOlderTurns(before)
    this.changes.emit()
    return outcome
  }

  /** Add rows that a read gave. A row that is already here is newer: it came through the stream. */
  merge(panel: Panel, rows: readonly Parameters<typeof fill>[0][]): void {
    for (const row of rows) {
      const filled = fill(row)
      if (filled !== null && this.#table(panel).get(filled.key) === undefined) this.#table(panel).put(filled)
    }
    this.changes.emit()
  }

  #applyOne(op: Op): Applied {
    if (!PANELS.includes(op.panel as Panel)) return 'applied'
    const table = this.#table(op.panel as Panel)
    switch (op.op) {
      case 'upsert':
        this.#upsert(op.panel, table, fill(op.row))
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
    const here = table.get(row.key)
    if (here !== undefined && here.sequence > row.sequence) return
    table.put(row)
    for (const field of STREAMED) {
      this.#lengths.delete(`${panel} ${row.key} ${field}`)
      const ref = textOf(row, field)?.ref ?? null
      const streamed = here === undefined ? undefined : textOf(here, field)
      const revised = 'revised' in row && row.revised
      if (ref !== null && streamed?.ref === null && !revised) this.#onOffloaded(ref, streamed.text)
    }
  }

  #append(table: PanelRows, op: Extract<Op, { op: 'append' }>): Applied {
    const row = table.get(op.key)
    if (row === undefined) return 'gap'
    const text = textOf(row, op.field) ?? asText(null)
    const name = `${op.panel} ${op.key} ${op.field}`
    const length = this.#lengths.get(name) ?? countCharacters(text.text)
    if (length < op.offset) return 'gap'
    const fresh = length === op.offset ? op.text : afterCharacters(op.text, length - op.offset)
    if (fresh !== '') {
      table.put({ ...row, [op.field]: { ...text, text: text.text + fresh } } as AnyRow)
    }
    this.#lengths.set(name, length + countCharacters(fresh))
    return 'applied'
  }

  #keepOlderTurns(before: Tables): void {
    const first = firstBegun(this.#tables.turns.all())
    const joint = first === undefined ? undefined : before.turns.get(first.key)
    if (first === undefined || joint === undefined || joint.order !== first.order) return
    for (const turn of before.turns.all()) {
      if (turn.order >= first.order || !hasBegun(turn) || this.#tables.turns.get(turn.key) !== undefined)
        continue
      this.#tables.turns.put(turn)
      for (const part of before.parts.ofTurn(turn.turnId)) this.#tables.parts.put(part)
    }
  }

  #table(panel: Panel): PanelRows {
    return this.#tables[panel] as unknown as PanelRows
  }
}
