import { createContext, type ReactNode, useContext } from 'react'

const ReadingContext = createContext(false)

/** `value` is true around a session that is for reading: nothing that changes it is offered there. */
export function ReadingProvider({ value, children }: { value: boolean; children: ReactNode }) {
  return <ReadingContext value={value}>{children}</ReadingContext>
}

export function useForReading(): boolean {
  return useContext(ReadingContext)
}
