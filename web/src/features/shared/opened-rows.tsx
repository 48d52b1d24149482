import { createContext, type ReactNode, useContext, useState } from 'react'

/** Remembers which rows are open, because rows outside the viewport are unmounted. */
const OpenedContext = createContext<Map<string, boolean> | null>(null)

export function OpenedRows({ children }: { children: ReactNode }) {
  const [opened] = useState(() => new Map<string, boolean>())
  return <OpenedContext value={opened}>{children}</OpenedContext>
}

export function useOpened(key: string, startsOpen = false): readonly [boolean, (open: boolean) => void] {
  const opened = useContext(OpenedContext)
  const [open, setOpen] = useState(() => opened?.get(key) ?? startsOpen)
  const set = (next: boolean) => {
    opened?.set(key, next)
    setOpen(next)
  }
  return [open, set]
}
