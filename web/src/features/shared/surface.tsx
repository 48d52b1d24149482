/**
 * What every surface gets from its host beside its props: labels, and the texts of blobs. A surface fetches nothing and
 * keeps no state of a run; a host that gives these two and the props can show it anywhere.
 */
import { createContext, type ReactNode, useContext, useEffect, useSyncExternalStore } from 'react'
import type { BlobRef } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'
import type { ArtifactRow, Text } from '@/system/rows/model'

export interface BlobReader {
  readonly get: (hash: string) => { readonly text: string; readonly state: BlobState } | undefined
  readonly load: (ref: BlobRef) => void
  readonly subscribe: (listener: () => void) => () => void
}

export type PictureState = 'loading' | 'ready' | 'failed' | 'unsupported'

/** Images by their hash. An `address` is for `src`, and empty until the image is ready. */
export interface PictureReader {
  readonly get: (hash: string) => { readonly state: PictureState; readonly address: string } | undefined
  readonly load: (ref: BlobRef) => void
  readonly subscribe: (listener: () => void) => () => void
}

export type BlobState = 'loading' | 'part' | 'whole' | 'failed'

export interface Surface {
  readonly t: Translate
  readonly blobs: BlobReader
  /** Left out where a host shows no images. */
  readonly pictures?: PictureReader
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

/** A text that is wanted whole: it is asked for as soon as it shows, a piece at a time. */
export function useWholeText(text: Text): FullText {
  const full = useFullText(text)
  const { state, load } = full
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once when the preview shows, not whenever a callback is new
  useEffect(() => {
    if (state === 'preview') load()
  }, [state, text.ref?.hash])
  return full
}

const NO_PICTURES: PictureReader = { get: () => undefined, load: () => {}, subscribe: () => () => {} }

/** An image of a row, asked for when it shows. */
export function usePicture(ref: BlobRef): { readonly state: PictureState; readonly address: string } {
  const { pictures = NO_PICTURES } = useSurface()
  const known = useSyncExternalStore(pictures.subscribe, () => pictures.get(ref.hash))
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked for once a hash; a ref is another object with every row
  useEffect(() => {
    if (known === undefined) pictures.load(ref)
  }, [pictures, known, ref.hash])
  return known ?? { state: 'loading', address: '' }
}

/** The artifacts of the session as they stand, and the way to their workspace. */
export interface Artifacts {
  readonly get: (artifactId: string) => ArtifactRow | null
  readonly onOpen: (artifactId: string, version: number | null) => void
}

export const NONE: Artifacts = { get: () => null, onOpen: () => {} }
export const ArtifactsContext = createContext<Artifacts>(NONE)
export function ArtifactsProvider({ value, children }: { value: Artifacts; children: ReactNode }) {
  return <ArtifactsContext value={value}>{children}</ArtifactsContext>
}

export function useArtifacts(): Artifacts {
  return useContext(ArtifactsContext)
}

/** What facts name by an id, as a person knows it. */
export interface Names {
  readonly agent: (id: string) => string
  /** The title of a task. */
  readonly task: (id: string) => string
}

export const AS_THEY_ARE: Names = { agent: (id) => id, task: (id) => id }
export const NamesContext = createContext<Names>(AS_THEY_ARE)
export function NamesProvider({ value, children }: { value: Names; children: ReactNode }) {
  return <NamesContext value={value}>{children}</NamesContext>
}

export function useNames(): Names {
  return useContext(NamesContext)
}

export const ReadingContext = createContext(false)
/** `value` is true around a session that is for reading: nothing that changes it is offered there. */
export function ReadingProvider({ value, children }: { value: boolean; children: ReactNode }) {
  return <ReadingContext value={value}>{children}</ReadingContext>
}

export function useForReading(): boolean {
  return useContext(ReadingContext)
}
