/**
 * Stops the session's stream while the page is hidden for long, and continues it when it is
 * visible.
 */
import { useEffect } from 'react'
import type { Workbench } from '@/system/workbench/workbench'

/** Browsers allow few connections per server, so hidden pages must not use them up. */
const GIVE_UP_AFTER_MS = 60_000

export function usePresence(workbench: Workbench): void {
  useEffect(() => {
    let timer = 0
    const report = () => {
      clearTimeout(timer)
      if (document.visibilityState === 'hidden') {
        timer = window.setTimeout(() => workbench.active?.feed.stop(), GIVE_UP_AFTER_MS)
      } else {
        workbench.active?.feed.start()
        workbench.reconnect()
      }
    }
    const reconnect = () => workbench.reconnect()
    document.addEventListener('visibilitychange', report)
    window.addEventListener('online', reconnect)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', report)
      window.removeEventListener('online', reconnect)
    }
  }, [workbench])
}
