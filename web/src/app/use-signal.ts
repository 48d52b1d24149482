/** Hooks that re-render on signals of the system. */
import { useCallback, useSyncExternalStore } from 'react'
import type { Signal } from '@/system/signal'

/** Re-render when a signal emits. */
export function useSignal(signal: Signal): number {
  return useSyncExternalStore(signal.subscribe, () => signal.version)
}

/** Like `useSignal`, but at most once per frame, for signals that emit often. */
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
