/** Helpers that render surfaces in component tests. */
import { type RenderResult, render } from '@testing-library/react'
import type { ReactNode } from 'react'
import { type BlobReader, SurfaceProvider } from '../src/features/shared/surface'
import type { BlobRef } from '../src/system/generated/contracts'
import { en } from '../src/system/i18n/en'
import { createTranslator } from '../src/system/i18n/translate'
import { zh } from '../src/system/i18n/zh'
import { fillRow, type Panels } from '../src/system/rows/model'

export const ENGLISH = createTranslator(en, 'en')
export const CHINESE = createTranslator(zh, 'zh-CN')

export const NO_BLOBS: BlobReader = { get: () => undefined, load: () => {}, subscribe: () => () => {} }

export function show(
  surface: ReactNode,
  blobs: BlobReader = NO_BLOBS,
  t = ENGLISH,
): RenderResult & { update: (next: ReactNode) => void } {
  const wrap = (inner: ReactNode) => <SurfaceProvider value={{ t, blobs }}>{inner}</SurfaceProvider>
  const result = render(wrap(surface))
  return { ...result, update: (next) => result.rerender(wrap(next)) }
}

/** Blobs by hash. A text is available after it was requested. */
export function createBlobReader(
  texts: Readonly<Record<string, string>>,
): BlobReader & { readonly requested: BlobRef[] } {
  const requested: BlobRef[] = []
  const listeners = new Set<() => void>()
  const loaded = new Map<string, { text: string; state: 'whole' }>()
  return {
    requested: requested,
    get: (hash) => loaded.get(hash),
    load: (ref) => {
      requested.push(ref)
      loaded.set(ref.hash, { text: texts[ref.hash] ?? '', state: 'whole' })
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A wire row with its defaults filled in. */
export function fillAs<P extends keyof Panels>(_panel: P, row: Parameters<typeof fillRow>[0]): Panels[P] {
  const filled = fillRow(row)
  if (filled === null) throw new Error(`${row.kind} is no row`)
  return filled as Panels[P]
}
