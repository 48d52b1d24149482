/** The question about a folder that holds far more than one project, such as a home. */
import { Signal } from '../signal'

interface Pending {
  readonly path: string
  readonly answer: Promise<boolean>
  readonly settle: (approved: boolean) => void
}

export class BroadFolderStore {
  readonly changes = new Signal()
  #pending: Pending | null = null

  /** The folder that a person is asked about; null for none. */
  get path(): string | null {
    return this.#pending?.path ?? null
  }

  /** Ask a person. Who asks while a question is open gets its answer, and no second question. */
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
