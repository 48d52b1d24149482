import { createContext, type ReactNode, useContext } from 'react'
import type { ArtifactRow } from '@/system/rows/model'

/** The artifacts of the session as they stand, and the way to their workspace. */
export interface Artifacts {
  readonly get: (artifactId: string) => ArtifactRow | null
  readonly onOpen: (artifactId: string, version: number | null) => void
}

const NONE: Artifacts = { get: () => null, onOpen: () => {} }
const ArtifactsContext = createContext<Artifacts>(NONE)

export function ArtifactsProvider({ value, children }: { value: Artifacts; children: ReactNode }) {
  return <ArtifactsContext value={value}>{children}</ArtifactsContext>
}

export function useArtifacts(): Artifacts {
  return useContext(ArtifactsContext)
}
