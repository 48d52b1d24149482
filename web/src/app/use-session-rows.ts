/** The rows of one session as the surfaces want them. */
import { useCallback, useMemo, useState } from 'react'
import { conversation, type Item } from '@/system/rows/conversation'
import type { StatusRow, TurnRow } from '@/system/rows/model'
import type { Session } from '@/system/workbench/session'
import { useServices } from './services-context'
import { useSignal, useSignalByFrame } from './use'

export function useSessionRows(session: Session) {
  const { workbench } = useServices()
  const rows = session.feed.rows
  const version = useSignalByFrame(rows.changes)
  const sentVersion = useSignal(workbench.outbox.changes)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())

  const toggleTurn = useCallback((turnId: string) => setOpened((before) => toggled(before, turnId)), [])

  const turns = rows.panel('turns').all()
  const threads = rows.panel('status').all()
  const status = threads[0] ?? null
  const running = turns.find((turn) => turn.threadId === status?.threadId && isRunning(turn)) ?? null

  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows change in place; their version says when
  const items = useMemo<readonly Item[]>(
    () =>
      conversation(turns, {
        opened,
        sent: workbench.outbox.of(session.id),
        parts: (turnId) => rows.panel('parts').ofTurn(turnId),
        hasParts: (turn) => session.hasParts(turn),
      }),
    [turns, opened, session, version, sentVersion],
  )

  return {
    rows,
    items,
    turns,
    threads,
    status,
    running,
    shell: rows.panel('session').all()[0] ?? null,
    queue: rows.panel('queue').all(),
    actions: rows.panel('actions').all(),
    toggleTurn,
  }
}

function isRunning(turn: TurnRow): boolean {
  return turn.state === 'running' || turn.state === 'waiting'
}

/** The status of a thread tells of its newest turn only. */
export function statusOf(turn: TurnRow | null, threads: readonly StatusRow[]): StatusRow | null {
  return threads.find((status) => turn !== null && status.turnId === turn.turnId) ?? null
}

function toggled(set: ReadonlySet<string>, member: string): ReadonlySet<string> {
  const next = new Set(set)
  if (!next.delete(member)) next.add(member)
  return next
}
