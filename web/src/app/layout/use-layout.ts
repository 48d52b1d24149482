/** Open and closed side panels. On a narrow page they cover the conversation and start closed. */
import { useCallback, useState, useSyncExternalStore } from 'react'
import { useServices } from '../services-context'

const SIDEBAR_FITS = '(min-width: 860px)'
const DETAILS_FITS = '(min-width: 1240px)'

function useFits(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = window.matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches)
}

export interface Panel {
  readonly open: boolean
  /** Whether it fits beside the conversation. */
  readonly fits: boolean
  readonly toggle: () => void
  readonly show: () => void
  readonly hide: () => void
  /** Sets the state that applies until the person chooses. */
  readonly setByDefault: (open: boolean) => void
}

function usePanel(name: string, fitsQuery: string, startsOpen: boolean): Panel {
  const { values } = useServices()
  const fits = useFits(fitsQuery)
  const [chosenOpen, setChosenOpen] = useState(() =>
    values.read(name) === null ? null : values.read(name) === 'true',
  )
  const [byDefault, setByDefault] = useState(startsOpen)
  const [isOverlayOpen, setOverlayOpen] = useState(false)
  const open = fits ? (chosenOpen ?? byDefault) : isOverlayOpen
  const set = useCallback(
    (next: boolean) => {
      if (!fits) return setOverlayOpen(next)
      setChosenOpen(next)
      values.write(name, String(next))
    },
    [fits, name, values],
  )
  // Stable callbacks, because effects may depend on them.
  const show = useCallback(() => set(true), [set])
  const hide = useCallback(() => set(false), [set])
  const toggle = useCallback(() => set(!open), [set, open])
  return { open, fits, toggle, show, hide, setByDefault }
}

export function useLayout() {
  return {
    sidebar: usePanel('sidebar', SIDEBAR_FITS, true),
    details: usePanel('inspector', DETAILS_FITS, false),
  }
}
