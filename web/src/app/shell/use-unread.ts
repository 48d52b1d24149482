/**
 * Marks sessions as read: the active one while the page is visible, and sessions that are being
 * imported.
 */
import { useCallback, useEffect } from 'react'
import type { SessionCard } from '@/system/rows/model'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

export function useUnread(sessions: readonly SessionCard[], activeId: string | null) {
  const { readMarks, imports } = useServices()
  const version = useSignal(readMarks.changes)
  useEffect(() => {
    const imported = new Set(imports.view.list?.sessions.map((session) => session.sessionId))
    for (const session of sessions) {
      const isVisible = session.sessionId === activeId && document.visibilityState === 'visible'
      // An import adds turn by turn, and none of them is new to the person.
      if (isVisible || imported.has(session.sessionId)) readMarks.mark(session.sessionId, session.updatedAt)
      else readMarks.begin(session.sessionId, session.updatedAt)
    }
  }, [sessions, activeId, readMarks, imports])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answer changes with the version
  return useCallback(
    (session: SessionCard) =>
      session.sessionId !== activeId && readMarks.isUnread(session.sessionId, session.updatedAt),
    [readMarks, activeId, version],
  )
}
