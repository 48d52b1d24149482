import { type ReactNode, useEffect, useRef, useState } from 'react'

/** The browser's modal dialog. It traps the focus, closes on Escape and restores the focus. */
export function Dialog(props: {
  readonly label: string
  readonly onClose: () => void
  readonly className?: string
  readonly children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  // Read this on creation: a menu that opened the dialog is gone when it is shown.
  const [before] = useState(findOpener)
  useEffect(() => {
    // Unmounting closes the element. `close()` here would report it to the host as an action of the
    // person.
    if (ref.current?.open === false) ref.current.showModal()
    // The browser focuses the first element. Prefer a field, if there is one.
    ref.current?.querySelector('input')?.focus()
    // An unmounted dialog does not restore the focus itself.
    return () => before?.focus()
  }, [before])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes a dialog on Escape; the click is for the backdrop
    <dialog
      ref={ref}
      aria-label={props.label}
      onClose={props.onClose}
      onClick={(event) => {
        if (event.target === ref.current) ref.current?.close()
      }}
      className={`fixed inset-x-0 top-[12vh] m-auto mt-0 max-h-[calc(88vh-24px)] w-[min(560px,calc(100vw-24px))] overflow-x-hidden overflow-y-auto rounded-lg border border-line-strong bg-surface p-0 text-ink shadow-2xl ${props.className ?? ''}`}
    >
      {props.children}
    </dialog>
  )
}

/** The focused element before the dialog. For a menu entry, the menu's button. */
function findOpener(): HTMLElement | null {
  const focused = document.activeElement
  const button = focused?.closest('[role=menu]')?.getAttribute('aria-labelledby') ?? null
  const element = button === null ? focused : document.getElementById(button)
  return element instanceof HTMLElement && element !== document.body ? element : null
}
