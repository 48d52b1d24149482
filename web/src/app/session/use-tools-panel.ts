/** Props of the tools panel for the open agent. */
import { useCallback, useEffect } from 'react'
import type { ToolsPanelProps } from '@/features/tool/tools-panel'
import type { Session } from '@/system/workbench/session'
import type { useSessionRows } from '../rows/use-session-rows'
import { findLeadThread } from '../rows/use-session-rows'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'

/** Poll interval of process output while the panel is open, in milliseconds. */
const POLL_MS = 2000

export function useToolsPanel(session: Session, view: ReturnType<typeof useSessionRows>): ToolsPanelProps {
  const { workbench, tools } = useServices()
  useSignal(tools.changes)
  const { rows, agent, team } = view
  const sessionId = session.id
  const threadId = agent?.threadId ?? findLeadThread(rows, team)
  const processes = rows.getPanel('processes').list()
  const runs = processes.some((row) => row.state === 'running')
  useEffect(() => {
    if (!runs) return
    const readProcesses = () => void tools.readProcesses(sessionId)
    readProcesses()
    const timer = setInterval(readProcesses, POLL_MS)
    return () => clearInterval(timer)
  }, [tools, sessionId, runs])
  const onNeedTools = useCallback(
    () => void tools.readInventory(sessionId, threadId),
    [tools, sessionId, threadId],
  )
  return {
    read: tools.getInventory(sessionId, threadId),
    processes: processes.map((row) => tools.getProcess(row)),
    onNeedTools,
    onReconnect: async (server) => {
      await workbench.attempt(() =>
        workbench.api.send('reconnect_server', { workspaceId: workbench.workspaceId, server }),
      )
      await tools.readInventory(sessionId, threadId)
    },
    handlers: {
      onWrite: (processId, text, end) =>
        workbench.attempt(() =>
          workbench.api.send('write_process_stdin', { sessionId, processId, text, end }),
        ),
      onTerminate: (processId) =>
        void workbench.attempt(() => workbench.api.send('terminate_process', { sessionId, processId })),
    },
  }
}
