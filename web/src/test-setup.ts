import { cleanup, configure } from '@testing-library/react'
import { afterEach } from 'vitest'

afterEach(cleanup)

// What is loaded when it is looked at takes its time where much else runs.
configure({ asyncUtilTimeout: 30_000 })

// The test page has no layout. A list that shows only what fits needs something to fit into.
for (const [name, size] of Object.entries({ clientHeight: 600, clientWidth: 800, offsetHeight: 60 })) {
  Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get: () => size })
}
HTMLElement.prototype.scrollTo = () => {}
HTMLElement.prototype.scrollIntoView = () => {}

// Nor are there transforms: whatever is drawn is drawn as large as it is.
window.DOMMatrixReadOnly ??= class {
  readonly m22 = 1
} as unknown as typeof DOMMatrixReadOnly

window.matchMedia = (media) =>
  ({ media, matches: true, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList

// The test page has no top layer: a modal dialog is one that is open.
HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true
}
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  this.open = false
  this.dispatchEvent(new Event('close'))
}

/** Nothing changes its size here: what is observed is told of once. */
window.ResizeObserver = class implements ResizeObserver {
  readonly #heard: ResizeObserverCallback
  constructor(heard: ResizeObserverCallback) {
    this.#heard = heard
  }
  observe(target: Element) {
    const size = { inlineSize: 800, blockSize: 60 }
    const entry = { target, borderBoxSize: [size] } as unknown as ResizeObserverEntry
    queueMicrotask(() => this.#heard([entry], this))
  }
  unobserve() {}
  disconnect() {}
}
