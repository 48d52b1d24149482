import type { ContextRow } from '@/system/rows/model'
import type { useSessionRows } from './use-session-rows'
import { findLeadThread } from './use-team'

/** Find the latest context of the open thread; null if unknown. */
export function findThreadContext({
  rows,
  agent,
  team,
}: ReturnType<typeof useSessionRows>): ContextRow | null {
  const threadId = agent?.threadId ?? findLeadThread(rows, team)
  return (
    rows
      .panel('context')
      .all()
      .find((row) => row.threadId === threadId) ?? null
  )
}
