/** The pending question about a folder that holds more than one project, such as a home folder. */
import { Signal } from '../signal'

interface Pending {
  readonly path: string
  readonly answer: Promise<boolean>
  readonly settle: (approved: boolean) => void
}

export class BroadFolderStore {
  readonly changes = new Signal()
  #pending: Pending | null = null

  /** The folder in question; null if there is none. */
  get path(): string | null {
    return this.#pending?.path ?? null
  }

  /** Ask the person. Another request for the same folder shares the answer. */
  ask(path: string): Promise<boolean> {
    if (this.#pending?.path === path) return this.#pending.answer
    this.settle(false)
    let settle: (approved: boolean) => void = () => {}
    const answer = new Promise<boolean>((resolve) => {
      settle = resolve
    })
    this.#pending = { path, answer, settle }
    this.changes.emit()
    return answer
  }

  settle(approved: boolean): void {
    const pending = this.#pending
    if (pending === null) return
    this.#pending = null
    pending.settle(approved)
    this.changes.emit()
  }
}
