/** The rows of a session in the form that surfaces use. */
import { useCallback, useMemo, useState } from 'react'
import type { StatusRow, TurnRow } from '@/system/rows/model'
import type { RowStore } from '@/system/rows/row-store'
import { buildConversation, type Item } from '@/system/selectors/conversation'
import { buildTeam, findAgent, type Team } from '@/system/selectors/team'
import type { Session } from '@/system/workbench/session'
import { useServices } from '../services-context'
import { useSignal, useSignalByFrame } from '../use-signal'

/**
 * `agentId` is the agent of the requested transcript; null for the agent that the person talks
 * with.
 */
export function useSessionRows(session: Session, agentId: string | null) {
  const { workbench } = useServices()
  const rows = session.feed.rows
  const version = useSignalByFrame(rows.changes)
  const sentVersion = useSignal(workbench.outbox.changes)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())

  const toggleTurn = useCallback((turnId: string) => setOpened((before) => toggle(before, turnId)), [])

  const team = useTeam(rows)
  const agent = team === null || agentId === null ? null : findAgent(team.agents, agentId)
  const leadsThread = findLeadThread(rows, team)
  const threadId = agent?.threadId ?? leadsThread
  const shell = rows.getPanel('session').list()[0] ?? null
  /**
   * A fact that this version cannot read may have ended the running turn, and no host takes over
   * such a session.
   */
  const hasUnknownFacts = shell?.hasUnknownFacts === true
  const threads = rows.getPanel('status').list()
  const status = hasUnknownFacts ? null : (threads.find((thread) => thread.threadId === leadsThread) ?? null)
  const all = rows.getPanel('turns').list()
  const turns = useMemo(
    () => (team === null ? all : all.filter((turn) => turn.threadId === threadId)),
    [team, all, threadId],
  )
  const running = hasUnknownFacts
    ? null
    : (all.find((turn) => turn.threadId === leadsThread && isRunning(turn)) ?? null)
  const queue = rows.getPanel('queue').list()
  const isLeads = threadId === leadsThread

  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows change in place; `version` changes with them
  const items = useMemo<readonly Item[]>(
    () =>
      buildConversation(turns, {
        opened,
        sent: isLeads ? workbench.outbox.listEntries(session.id) : [],
        getParts: (turnId) => rows.getPanel('parts').listTurn(turnId),
        hasParts: (turn) => session.hasParts(turn),
        atWork: !hasUnknownFacts,
      }),
    [turns, opened, session, isLeads, hasUnknownFacts, version, sentVersion],
  )

  return {
    rows,
    team,
    agent,
    items,
    turns,
    allTurns: all,
    threads,
    status,
    /** The status of the thread of these turns. */
    threadStatus: threads.find((thread) => thread.threadId === threadId) ?? null,
    running,
    shell,
    queue: team === null ? queue : queue.filter((row) => row.threadId === threadId),
    actions: rows.getPanel('actions').list(),
    toggleTurn,
  }
}

function isRunning(turn: TurnRow): boolean {
  return turn.state === 'running' || turn.state === 'waiting'
}

/** Find the status of a turn. A thread's status is about its newest turn only. */
export function findTurnStatus(turn: TurnRow | null, threads: readonly StatusRow[]): StatusRow | null {
  return threads.find((status) => turn !== null && status.turnId === turn.turnId) ?? null
}

function toggle(set: ReadonlySet<string>, member: string): ReadonlySet<string> {
  const next = new Set(set)
  if (!next.delete(member)) next.add(member)
  return next
}

/** The team of a session; null if there is only one agent. */
export function useTeam(rows: RowStore): Team | null {
  const row = rows.getPanel('team').list()[0] ?? null
  const [agents, edges, tasks] = [
    rows.getPanel('agents').list(),
    rows.getPanel('edges').list(),
    rows.getPanel('tasks').list(),
  ]
  const [handoffs, reviews] = [rows.getPanel('handoffs').list(), rows.getPanel('reviews').list()]
  const [notifications, messages] = [rows.getPanel('notifications').list(), rows.getPanel('messages').list()]
  const runs = rows.getPanel('runs').list()
  return useMemo(() => {
    return buildTeam(row, { agents, edges, tasks, handoffs, reviews, notifications, messages, runs })
  }, [row, agents, edges, tasks, handoffs, reviews, notifications, messages, runs])
}

/** The thread that receives the person's messages: of the lead, or of the single agent. */
export function findLeadThread(rows: RowStore, team: Team | null): string | null {
  const lead = team === null ? null : findAgent(team.agents, team.row.lead)
  return lead?.threadId ?? rows.getPanel('status').list()[0]?.threadId ?? null
}
