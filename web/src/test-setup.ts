import { cleanup, configure } from '@testing-library/react'
import { afterEach } from 'vitest'

afterEach(cleanup)

// Lazy modules load slowly on a busy machine.
configure({ asyncUtilTimeout: 30_000 })

// jsdom has no layout, and a virtual list needs a size.
for (const [name, size] of Object.entries({ clientHeight: 600, clientWidth: 800, offsetHeight: 60 })) {
  Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get: () => size })
}
HTMLElement.prototype.scrollTo = () => {}
HTMLElement.prototype.scrollIntoView = () => {}

// jsdom has no transforms.
window.DOMMatrixReadOnly ??= class {
  readonly m22 = 1
} as unknown as typeof DOMMatrixReadOnly

window.matchMedia = (media) =>
  ({ media, matches: true, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList

// jsdom has no top layer, so a modal dialog is an open one.
HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true
}
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  this.open = false
  this.dispatchEvent(new Event('close'))
}

/** Sizes never change in jsdom, so an observer is called once. */
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
