/**
 * What every surface gets from its host beside its props: labels, and the texts of blobs. A surface fetches nothing and
 * keeps no state of a run; a host that gives these two and the props can show it anywhere.
 */
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react'
import type { BlobRef } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'
import type { Text } from '@/system/rows/model'

export interface BlobReader {
  readonly get: (hash: string) => { readonly text: string; readonly state: BlobState } | undefined
  readonly load: (ref: BlobRef) => void
  readonly subscribe: (listener: () => void) => () => void
}

export type BlobState = 'loading' | 'part' | 'whole' | 'failed'

export interface Surface {
  readonly t: Translate
  readonly blobs: BlobReader
}

const SurfaceContext = createContext<Surface | null>(null)

export function SurfaceProvider({ value, children }: { value: Surface; children: ReactNode }) {
  return <SurfaceContext value={value}>{children}</SurfaceContext>
}

function useSurface(): Surface {
  const surface = useContext(SurfaceContext)
  if (surface === null) throw new Error('a surface needs a SurfaceProvider around it')
  return surface
}

export function useT(): Translate {
  return useSurface().t
}

export interface FullText {
  readonly text: string
  /** `preview`: only the head is here and nothing was asked for. */
  readonly state: BlobState | 'preview'
  readonly size: number
  readonly load: () => void
}

const NOTHING_TO_LOAD = () => {}

/** A text of a row: its preview, or as much of the whole as was read. */
export function useFullText(text: Text): FullText {
  const { blobs, t } = useSurface()
  const ref = text.ref
  const blob = useSyncExternalStore(blobs.subscribe, () => (ref === null ? undefined : blobs.get(ref.hash)))
  if (text.erased) return { text: t('app.erased'), state: 'whole', size: 0, load: NOTHING_TO_LOAD }
  if (ref === null) return { text: text.text, state: 'whole', size: 0, load: NOTHING_TO_LOAD }
  const load = () => blobs.load(ref)
  if (blob === undefined) return { text: text.text, state: 'preview', size: ref.size, load }
  const shown = blob.text.length > text.text.length ? blob.text : text.text
  return { text: shown, state: blob.state, size: ref.size, load }
}
