/** Settings for the next turn of each session, kept until a turn has run with them. */
import { MODES, type Mode, PERMISSION_MODES, type PermissionMode } from '../generated/contracts'
import { Signal } from '../signal'
import type { LocalValues } from './local-values'

export interface TurnSettings {
  readonly mode: Mode
  readonly permissionMode: PermissionMode
}

/** Defaults of a session without a turn. */
export const DEFAULT_TURN_SETTINGS: TurnSettings = { mode: 'chat', permissionMode: 'ask' }

export class TurnChoices {
  readonly changes = new Signal()
  readonly #values: LocalValues
  readonly #chosen = new Map<string, Partial<TurnSettings>>()

  constructor(values: LocalValues) {
    this.#values = values
  }

  get(sessionId: string): Partial<TurnSettings> {
    const cached = this.#chosen.get(sessionId)
    if (cached !== undefined) return cached
    const mode = MODES.find((mode) => mode === this.#values.read(`mode.${sessionId}`))
    const permissionMode = PERMISSION_MODES.find(
      (mode) => mode === this.#values.read(`permission.${sessionId}`),
    )
    const stored = { ...(mode && { mode }), ...(permissionMode && { permissionMode }) }
    this.#chosen.set(sessionId, stored)
    return stored
  }

  choose(sessionId: string, change: Partial<TurnSettings>): void {
    this.#set(sessionId, { ...this.get(sessionId), ...change })
  }

  /** Clear the choices that a turn has run with. */
  clearApplied(sessionId: string, { mode, permissionMode }: TurnSettings): void {
    const chosen = this.get(sessionId)
    const remaining: { mode?: Mode; permissionMode?: PermissionMode } = { ...chosen }
    if (remaining.mode === mode) delete remaining.mode
    if (remaining.permissionMode === permissionMode) delete remaining.permissionMode
    if (Object.keys(remaining).length < Object.keys(chosen).length) this.#set(sessionId, remaining)
  }

  #set(sessionId: string, chosen: Partial<TurnSettings>): void {
    this.#chosen.set(sessionId, chosen)
    this.#values.write(`mode.${sessionId}`, chosen.mode ?? null)
    this.#values.write(`permission.${sessionId}`, chosen.permissionMode ?? null)
    this.changes.emit()
  }
}
