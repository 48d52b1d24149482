import { useMemo } from 'react'
import type { RowStore } from '@/system/rows/row-store'
import { buildTeam, findAgent, type Team } from '@/system/selectors/team'

/** The team of a session; null if there is only one agent. */
export function useTeam(rows: RowStore): Team | null {
  const row = rows.panel('team').all()[0] ?? null
  const [agents, edges, tasks] = [
    rows.panel('agents').all(),
    rows.panel('edges').all(),
    rows.panel('tasks').all(),
  ]
  const [handoffs, reviews] = [rows.panel('handoffs').all(), rows.panel('reviews').all()]
  const [notifications, messages] = [rows.panel('notifications').all(), rows.panel('messages').all()]
  const runs = rows.panel('runs').all()
  return useMemo(() => {
    return buildTeam(row, { agents, edges, tasks, handoffs, reviews, notifications, messages, runs })
  }, [row, agents, edges, tasks, handoffs, reviews, notifications, messages, runs])
}

/** The thread that the person talks with: the lead's, or that of the single agent. */
export function findLeadThread(rows: RowStore, team: Team | null): string | null {
  const lead = team === null ? null : findAgent(team.agents, team.row.lead)
  return lead?.threadId ?? rows.panel('status').all()[0]?.threadId ?? null
}
