/** Streams follow the page: a page that is hidden for long gives up its session's stream, and continues it when it is seen. */
import { useEffect } from 'react'
import type { Workbench } from '@/system/workbench/workbench'

/** Browsers allow few connections to one server: hidden pages must not take them from the one that is looked at. */
const GIVE_UP_AFTER_MS = 60_000

export function usePresence(workbench: Workbench): void {
  useEffect(() => {
    let timer = 0
    const seen = () => {
      clearTimeout(timer)
      if (document.visibilityState === 'hidden') {
        timer = window.setTimeout(() => workbench.active?.feed.stop(), GIVE_UP_AFTER_MS)
      } else {
        workbench.active?.feed.start()
        workbench.reconnect()
      }
    }
    const online = () => workbench.reconnect()
    document.addEventListener('visibilitychange', seen)
    window.addEventListener('online', online)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
      window.removeEventListener('online', online)
    }
  }, [workbench])
}
