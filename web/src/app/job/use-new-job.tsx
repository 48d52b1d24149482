/** The dialog for a new job, in the active session or in a new one. */
import { lazy, Suspense, useCallback, useState } from 'react'
import type { AgentOffer, NewJob } from '@/features/shared/team-handlers'
import type { Session } from '@/system/workbench/session'
import type { Workbench } from '@/system/workbench/workbench'
import { useServices } from '../services-context'

const NewJobDialog = lazy(async () => ({
  default: (await import('@/features/job/new-job-dialog')).NewJobDialog,
}))

/**
 * Opens the dialog for a new job after reading the subagents of the session. Without a session, the job
 * starts one in the active folder.
 */
export function useNewJob(session: Session | null, onCreated: (sessionId: string) => void) {
  const { workbench } = useServices()
  const [form, setForm] = useState<{ readonly subagents: readonly AgentOffer[] | null } | null>(null)
  const ask = useCallback(async () => {
    setForm({ subagents: session === null ? null : await readSubagents(workbench, session.id) })
  }, [workbench, session])
  const create = async (job: NewJob) => {
    const target = session === null ? { workspaceId: workbench.workspaceId } : { sessionId: session.id }
    let newSessionId = ''
    const refusal = await workbench.captureRefusal(async () => {
      newSessionId = (await workbench.api.send('create_job', { ...target, ...job })).sessionId
    })
    if (refusal === null) onCreated(newSessionId)
    return refusal
  }
  const dialog = form !== null && (
    <Suspense fallback={null}>
      <NewJobDialog
        subagents={form.subagents}
        beginsSession={session === null}
        onCreate={create}
        onDone={() => setForm(null)}
      />
    </Suspense>
  )
  return { ask: useCallback(() => void ask(), [ask]), dialog }
}

/** Read the agents that can work on job items; null on failure. */
export async function readSubagents(
  workbench: Workbench,
  sessionId: string,
): Promise<readonly AgentOffer[] | null> {
  let subagents: readonly AgentOffer[] | null = null
  await workbench.attempt(async () => {
    const { agents } = await workbench.api.query('list_agents', { sessionId })
    subagents = agents.filter((agent) => agent.kind === 'subagent')
  })
  return subagents
}
