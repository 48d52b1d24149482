import { type ReactNode, useEffect, useRef, useState } from 'react'

/** A modal dialog of the browser: it keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog(props: {
  readonly label: string
  readonly onClose: () => void
  readonly className?: string
  readonly children: ReactNode
}) {
  const ref = useRef<HTMLDialogElement>(null)
  // As it is made: a menu that led here is gone by the time that it is shown.
  const [before] = useState(opener)
  useEffect(() => {
    // Taking the element off the page closes it; closing it here would tell the host that the person did.
    if (ref.current?.open === false) ref.current.showModal()
    // The browser gives the focus to whatever comes first; where there is a field, it is for typing.
    ref.current?.querySelector('input')?.focus()
    // One that is taken off the page gives nothing back by itself.
    return () => before?.focus()
  }, [before])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a dialog closes on Escape by itself; the click is for its backdrop
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

/** What has the focus where a dialog is asked for: of an entry of a menu, the button of that menu. */
function opener(): HTMLElement | null {
  const focused = document.activeElement
  const button = focused?.closest('[role=menu]')?.getAttribute('aria-labelledby') ?? null
  const found = button === null ? focused : document.getElementById(button)
  return found instanceof HTMLElement && found !== document.body ? found : null
}
