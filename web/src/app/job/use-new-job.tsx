/** A new job, in the session on the screen or in one of its own. */
import { lazy, Suspense, useCallback, useState } from 'react'
import type { AgentOffer, NewJob } from '@/features/shared/team-handlers'
import type { Session } from '@/system/workbench/session'
import type { Workbench } from '@/system/workbench/workbench'
import { useServices } from '../services-context'

const NewJobDialog = lazy(async () => ({
  default: (await import('@/features/job/new-job-dialog')).NewJobDialog,
}))

/** Asks what a new job is to be, once it is known who could work on it: only a session says so. Without one the job begins a
 *  session in the folder that is open. */
export function useNewJob(session: Session | null, onMade: (sessionId: string) => void) {
  const { workbench } = useServices()
  const [asked, setAsked] = useState<{ readonly subagents: readonly AgentOffer[] | null } | null>(null)
  const ask = useCallback(async () => {
    setAsked({ subagents: session === null ? null : await subagentsOf(workbench, session.id) })
  }, [workbench, session])
  const make = async (job: NewJob) => {
    const place = session === null ? { workspaceId: workbench.workspaceId } : { sessionId: session.id }
    let madeIn = ''
    const refusal = await workbench.captureRefusal(async () => {
      madeIn = (await workbench.api.command('create_job', { ...place, ...job })).sessionId
    })
    if (refusal === null) onMade(madeIn)
    return refusal
  }
  const dialog = asked !== null && (
    <Suspense fallback={null}>
      <NewJobDialog
        subagents={asked.subagents}
        beginsSession={session === null}
        onCreate={make}
        onDone={() => setAsked(null)}
      />
    </Suspense>
  )
  return { ask: useCallback(() => void ask(), [ask]), dialog }
}

/** The agents of the session's folder that can work on the items of a job; null where the server does not say. */
export async function subagentsOf(
  workbench: Workbench,
  sessionId: string,
): Promise<readonly AgentOffer[] | null> {
  let found: readonly AgentOffer[] | null = null
  await workbench.attempt(async () => {
    const { agents } = await workbench.api.query('list_agents', { sessionId })
    found = agents.filter((agent) => agent.kind === 'subagent')
  })
  return found
}
