import { createContext, type ReactNode, useContext } from 'react'

/** What facts name by an id, as a person knows it. */
export interface Names {
  readonly agent: (id: string) => string
  /** The title of a task. */
  readonly task: (id: string) => string
}

const AS_THEY_ARE: Names = { agent: (id) => id, task: (id) => id }
const NamesContext = createContext<Names>(AS_THEY_ARE)

export function NamesProvider({ value, children }: { value: Names; children: ReactNode }) {
  return <NamesContext value={value}>{children}</NamesContext>
}

export function useNames(): Names {
  return useContext(NamesContext)
}
