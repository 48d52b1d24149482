/** Synchronises the address with the active session. */
import { useEffect } from 'react'
import { readRoute, writeRoute } from '@/system/local/route'
import type { Workbench } from '@/system/workbench/workbench'

export function useRoute(workbench: Workbench): void {
  useEffect(() => {
    const fromAddress = () => {
      const { workspaceId, sessionId } = readRoute(window.location.hash)
      if (workspaceId !== null) workbench.openWorkspace(workspaceId)
      workbench.openSession(sessionId)
    }
    const toAddress = () => {
      const hash = writeRoute({
        sessionId: workbench.active?.id ?? null,
        workspaceId: workbench.workspaceId || null,
      })
      if ((window.location.hash || '#/') !== hash) window.history.pushState(null, '', hash)
    }
    fromAddress()
    window.addEventListener('popstate', fromAddress)
    const unsubscribe = workbench.changes.subscribe(toAddress)
    return () => {
      window.removeEventListener('popstate', fromAddress)
      unsubscribe()
    }
  }, [workbench])
}
