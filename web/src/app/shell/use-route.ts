/** Synchronises the address with the active session. */
import { useEffect } from 'react'
import { readRoute, writeRoute } from '@/system/local/route'
import type { Workbench } from '@/system/workbench/workbench'

export function useRoute(workbench: Workbench): void {
  useEffect(() => {
    const applyAddress = () => {
      const { workspaceId, sessionId } = readRoute(window.location.hash)
      if (workspaceId !== null) workbench.openWorkspace(workspaceId)
      workbench.openSession(sessionId)
    }
    const writeAddress = () => {
      const hash = writeRoute({
        sessionId: workbench.active?.id ?? null,
        workspaceId: workbench.workspaceId || null,
      })
      if ((window.location.hash || '#/') !== hash) window.history.pushState(null, '', hash)
    }
    applyAddress()
    window.addEventListener('popstate', applyAddress)
    const unsubscribe = workbench.changes.subscribe(writeAddress)
    return () => {
      window.removeEventListener('popstate', applyAddress)
      unsubscribe()
    }
  }, [workbench])
}
