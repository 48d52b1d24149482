/** Items of a job from a query. */
import { useEffect, useState } from 'react'
import type { JobItem } from '@/system/generated/contracts'
import { countItems, isItem, isJob, sumItems } from '@/system/selectors/job'
import type { Team } from '@/system/selectors/team'
import type { Session } from '@/system/workbench/session'
import { useServices } from '../services-context'

/** Reads the items of a task's job if the rows lack some of them. */
export function useJobItems(session: Session, team: Team, taskId: string): readonly JobItem[] {
  const { workbench } = useServices()
  const [read, setRead] = useState<{ readonly jobId: string; readonly items: readonly JobItem[] } | null>(
    null,
  )
  const job = team.tasks.filter(isJob).find((task) => task.key === taskId)
  const jobId = job?.job ?? ''
  const rowCount = team.tasks.filter((task) => task.job === jobId && isItem(task)).length
  const lacks = job !== undefined && rowCount < sumItems(countItems(job))
  useEffect(() => {
    if (!lacks) return
    let isStale = false
    void workbench.attempt(async () => {
      const { items } = await workbench.api.query('get_job', { sessionId: session.id, jobId })
      if (!isStale) setRead({ jobId, items })
    })
    return () => {
      isStale = true
    }
  }, [workbench, session, jobId, lacks])
  return read?.jobId === jobId ? read.items : NONE
}

const NONE: readonly JobItem[] = []
