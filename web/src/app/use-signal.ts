/** The thin layer between the system and the surfaces: what changes there renders here, at most once a frame. */
import { useCallback, useSyncExternalStore } from 'react'
import type { Signal } from '@/system/signal'

/** Render when the signal changes. The signals must be the same for the life of the component, or keyed by it. */
export function useSignal(signal: Signal): number {
  return useSyncExternalStore(signal.subscribe, () => signal.version)
}

/** Like `useSignal`, for signals that may change hundreds of times a second. */
export function useSignalByFrame(signal: Signal): number {
  const subscribe = useCallback(
    (listener: () => void) => {
      let frame = 0
      const unsubscribe = signal.subscribe(() => {
        if (frame !== 0) return
        frame = requestAnimationFrame(() => {
          frame = 0
          listener()
        })
      })
      return () => {
        cancelAnimationFrame(frame)
        unsubscribe()
      }
    },
    [signal],
  )
  return useSyncExternalStore(subscribe, () => signal.version)
}
