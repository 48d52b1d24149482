import type { ContextRow } from '@/system/rows/model'
import type { useSessionRows } from './use-session-rows'
import { leadThread } from './use-team'

/** What the thread that the person talks with was given last; null where no fact tells. */
export function contextOf({ rows, agent, team }: ReturnType<typeof useSessionRows>): ContextRow | null {
  const threadId = agent?.threadId ?? leadThread(rows, team)
  return (
    rows
      .panel('context')
      .all()
      .find((row) => row.threadId === threadId) ?? null
  )
}
