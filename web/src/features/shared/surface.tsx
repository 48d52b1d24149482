/**
 * Contexts that a host provides to surfaces beside their props: labels, blobs, artifacts, names and
 * read-only mode. A surface fetches nothing and holds no state of a run, so any host can show it.
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

export type ImageState = 'loading' | 'ready' | 'failed' | 'unsupported'

/** Images by hash. `address` is a URL for `src`, empty until the image is ready. */
export interface ImageReader {
  readonly get: (hash: string) => { readonly state: ImageState; readonly address: string } | undefined
  readonly load: (ref: BlobRef) => void
  readonly subscribe: (listener: () => void) => () => void
}

export type BlobState = 'loading' | 'part' | 'whole' | 'failed'

export interface Surface {
  readonly t: Translate
  readonly blobs: BlobReader
  /** Absent if the host shows no images. */
  readonly images?: ImageReader
}

const SurfaceContext = createContext<Surface | null>(null)

export function SurfaceProvider({ value, children }: { value: Surface; children: ReactNode }) {
  return <SurfaceContext value={value}>{children}</SurfaceContext>
}

function useSurface(): Surface {
  const surface = useContext(SurfaceContext)
  if (surface === null) throw new Error('A surface must be rendered inside a SurfaceProvider.')
  return surface
}

export function useT(): Translate {
  return useSurface().t
}

export interface FullText {
  readonly text: string
  /** `preview`: only the preview is here, and the rest was not requested. */
  readonly state: BlobState | 'preview'
  readonly size: number
  readonly load: () => void
}

const NOTHING_TO_LOAD = () => {}

/** A text of a row: its preview, or as much as was read. */
export function useFullText(text: Text): FullText {
  const { blobs, t } = useSurface()
  const ref = text.ref
  const blob = useSyncExternalStore(blobs.subscribe, () => (ref === null ? undefined : blobs.get(ref.hash)))
  if (text.erased) return { text: t('app.erased'), state: 'whole', size: 0, load: NOTHING_TO_LOAD }
  if (ref === null) return { text: text.text, state: 'whole', size: 0, load: NOTHING_TO_LOAD }
  const load = () => blobs.load(ref)
  if (blob === undefined) return { text: text.text, state: 'preview', size: ref.size, load }
  const longest = blob.text.length > text.text.length ? blob.text : text.text
  return { text: longest, state: blob.state, size: ref.size, load }
}

/** A text of a row that is read completely as soon as it is shown, piece by piece. */
export function useWholeText(text: Text): FullText {
  const full = useFullText(text)
  const { state, load } = full
  // biome-ignore lint/correctness/useExhaustiveDependencies: request once when the preview is shown, not for each new callback
  useEffect(() => {
    if (state === 'preview') load()
  }, [state, text.ref?.hash])
  return full
}

const NO_IMAGES: ImageReader = { get: () => undefined, load: () => {}, subscribe: () => () => {} }

/** An image of a row, read when it is shown. */
export function useImage(ref: BlobRef): { readonly state: ImageState; readonly address: string } {
  const { images = NO_IMAGES } = useSurface()
  const image = useSyncExternalStore(images.subscribe, () => images.get(ref.hash))
  // biome-ignore lint/correctness/useExhaustiveDependencies: request once per hash; each row has a new ref object
  useEffect(() => {
    if (image === undefined) images.load(ref)
  }, [images, image, ref.hash])
  return image ?? { state: 'loading', address: '' }
}

/** The session's artifacts, and the callback that opens one. */
export interface Artifacts {
  readonly get: (artifactId: string) => ArtifactRow | null
  readonly onOpen: (artifactId: string, version: number | null) => void
}

export const NO_ARTIFACTS: Artifacts = { get: () => null, onOpen: () => {} }
export const ArtifactsContext = createContext<Artifacts>(NO_ARTIFACTS)
export function ArtifactsProvider({ value, children }: { value: Artifacts; children: ReactNode }) {
  return <ArtifactsContext value={value}>{children}</ArtifactsContext>
}

export function useArtifacts(): Artifacts {
  return useContext(ArtifactsContext)
}

/** Display names by id. */
export interface Names {
  readonly nameAgent: (id: string) => string
  /** The title of a task. */
  readonly nameTask: (id: string) => string
}

export const IDS_AS_NAMES: Names = { nameAgent: (id) => id, nameTask: (id) => id }
export const NamesContext = createContext<Names>(IDS_AS_NAMES)
export function NamesProvider({ value, children }: { value: Names; children: ReactNode }) {
  return <NamesContext value={value}>{children}</NamesContext>
}

export function useNames(): Names {
  return useContext(NamesContext)
}

export const ReadOnlyContext = createContext(false)
/** `value` is true around a read-only session, where surfaces offer no changes. */
export function ReadOnlyProvider({ value, children }: { value: boolean; children: ReactNode }) {
  return <ReadOnlyContext value={value}>{children}</ReadOnlyContext>
}

export function useReadOnly(): boolean {
  return useContext(ReadOnlyContext)
}
