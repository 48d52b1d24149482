import { useEffect, useState } from 'react'
import type { ActiveSession } from './active-session'

/** Load the session view, which the first page does not need. */
export const loadSession = async () => (await import('./active-session')).ActiveSession

/**
 * The session view; null until it is loaded in the background. A loaded view shows a session without
 * suspending: otherwise an action card could appear before the message field has the focus.
 */
export function useSessionView(): typeof ActiveSession | null {
  const [loaded, setLoaded] = useState<typeof ActiveSession | null>(null)
  useEffect(() => {
    loadSession().then(
      (view) => setLoaded(() => view),
      (error: unknown) =>
        setLoaded(() => {
          throw error
        }),
    )
  }, [])
  return loaded
}
