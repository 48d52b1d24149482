/**
 * Marks sessions as read: the active one while the page is visible, and sessions that are being
 * imported.
 */
import { useCallback, useEffect } from 'react'
import type { SessionCard } from '@/system/rows/model'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

export function useUnread(sessions: readonly SessionCard[], activeId: string | null) {
  const { seen, imports } = useServices()
  const version = useSignal(seen.changes)
  useEffect(() => {
    const imported = new Set(imports.view.list?.sessions.map((session) => session.sessionId))
    for (const session of sessions) {
      const isVisible = session.sessionId === activeId && document.visibilityState === 'visible'
      // An import adds turn by turn, and none of them is new to the person.
      if (isVisible || imported.has(session.sessionId)) seen.mark(session.sessionId, session.updatedAt)
      else seen.begin(session.sessionId, session.updatedAt)
    }
  }, [sessions, activeId, seen, imports])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answer changes with the version
  return useCallback(
    (session: SessionCard) =>
      session.sessionId !== activeId && seen.isUnread(session.sessionId, session.updatedAt),
    [seen, activeId, version],
  )
}
