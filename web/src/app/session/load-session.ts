import { useEffect, useState } from 'react'
import type { ActiveSession } from './active-session'

/** What shows a session, apart from the rest of the page: the first page needs none of it. */
export const loadSession = async () => (await import('./active-session')).ActiveSession

/**
 * What shows a session, null until it is loaded, which begins behind the first page. Once it is there a session shows at
 * once: a wait of its own would let what asks for a decision come before the message field has the focus.
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
