/** How the next turn of each session shall run, where the person chose it and no turn has run like that yet. */
import { MODES, type Mode, PERMISSION_MODES, type PermissionMode } from '../generated/contracts'
import { Signal } from '../signal'
import type { LocalValues } from './local-values'

export interface TurnSettings {
  readonly mode: Mode
  readonly permissionMode: PermissionMode
}

/** How a session without a turn begins. */
export const AT_FIRST: TurnSettings = { mode: 'chat', permissionMode: 'ask' }

export class Choices {
  readonly changes = new Signal()
  readonly #values: LocalValues
  readonly #chosen = new Map<string, Partial<TurnSettings>>()

  constructor(values: LocalValues) {
    this.#values = values
  }

  get(sessionId: string): Partial<TurnSettings> {
    const known = this.#chosen.get(sessionId)
    if (known !== undefined) return known
    const mode = MODES.find((mode) => mode === this.#values.read(`mode.${sessionId}`))
    const permissionMode = PERMISSION_MODES.find(
      (mode) => mode === this.#values.read(`permission.${sessionId}`),
    )
    const kept = { ...(mode && { mode }), ...(permissionMode && { permissionMode }) }
    this.#chosen.set(sessionId, kept)
    return kept
  }

  choose(sessionId: string, change: Partial<TurnSettings>): void {
    this.#set(sessionId, { ...this.get(sessionId), ...change })
  }

  /** A turn of the session ran like this: a choice that it took up is over. */
  taken(sessionId: string, { mode, permissionMode }: TurnSettings): void {
    const chosen = this.get(sessionId)
    const left: { mode?: Mode; permissionMode?: PermissionMode } = { ...chosen }
    if (left.mode === mode) delete left.mode
    if (left.permissionMode === permissionMode) delete left.permissionMode
    if (Object.keys(left).length < Object.keys(chosen).length) this.#set(sessionId, left)
  }

  #set(sessionId: string, chosen: Partial<TurnSettings>): void {
    this.#chosen.set(sessionId, chosen)
    this.#values.write(`mode.${sessionId}`, chosen.mode ?? null)
    this.#values.write(`permission.${sessionId}`, chosen.permissionMode ?? null)
    this.changes.emit()
  }
}
