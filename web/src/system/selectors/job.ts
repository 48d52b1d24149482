/** Jobs and their items, from the tasks of a team. */
import type { JobItem, JobRead, Ref } from '../generated/contracts'
import type { AgentRow, TaskRow } from '../rows/model'
import { findAgent, type Team } from './team'

export type ItemStatus = JobItem['status']
export type JobStatus = JobRead['status']

/** Number of items of a job by status. */
export interface ItemCounts {
  readonly completed: number
  readonly failed: number
  readonly running: number
  readonly waiting: number
  readonly cancelled: number
}

/** A task row of a job. */
export type JobRow = TaskRow & { readonly items: NonNullable<TaskRow['items']> }

export function isJob(task: TaskRow): task is JobRow {
  return task.items !== null
}

/** Whether a task is a job item. It is shown with its job, not as a card. */
export function isItem(task: TaskRow): boolean {
  return task.job !== '' && task.items === null
}

/** The status of a job. A failed job has failed items and no open item. */
export function computeJobStatus(task: TaskRow): JobStatus {
  if (task.status === 'done') return 'completed'
  if (task.status === 'cancelled') return 'cancelled'
  if (task.cancelling) return 'cancelling'
  if (task.paused) return 'paused'
  return task.ended > 0 ? 'failed' : 'running'
}

/** Whether failed items of a job can be retried. A paused or ended job starts nothing. */
export function canRetryItems(status: JobStatus): boolean {
  return status === 'running' || status === 'failed'
}

/**
 * The status of an item. An item that failed before its job was cancelled or paused stays failed.
 */
export function computeItemStatus(task: TaskRow): ItemStatus {
  const isPausedFailure = task.paused && task.ended > 0 && task.status === 'blocked'
  const ended = task.status === 'cancelled' && task.attempts.at(-1)?.status === 'failed'
  const status = isPausedFailure || ended ? 'failed' : computeJobStatus(task)
  const waits = task.attempts.length === 0 || task.status === 'open' || task.status === 'claimed'
  return status === 'running' && waits ? 'waiting' : status
}

/** A job item. `task` is its row; null if only a query returned the item. */
export interface Item {
  readonly key: string
  readonly title: string
  readonly status: ItemStatus
  readonly attempts: number
  readonly agentId: string
  readonly runId: string
  readonly output: string
  readonly problem: string
  readonly refs: readonly Ref[]
  readonly task: TaskRow | null
}

/**
 * The items of a job in order. Old items may have no row; `read` has them, from a query. Waiting
 * items of a paused job are paused.
 */
export function listJobItems(
  tasks: readonly TaskRow[],
  job: string,
  read: readonly JobItem[],
): readonly Item[] {
  const tasksOfJob = tasks.filter((task) => task.job === job)
  const rows = tasksOfJob.filter(isItem).toSorted((a, b) => a.order - b.order)
  const byKey = new Map(rows.map((task) => [task.key, buildItemFromRow(task)]))
  const items =
    read.length === 0
      ? [...byKey.values()]
      : read.map((item) => byKey.get(item.itemId) ?? buildItemFromRead(item))
  if (!tasksOfJob.some((task) => isJob(task) && computeJobStatus(task) === 'paused')) return items
  return items.map((item) => (item.status === 'waiting' ? { ...item, status: 'paused' } : item))
}

function buildItemFromRow(task: TaskRow): Item {
  const last = task.attempts.at(-1)
  const status = computeItemStatus(task)
  return {
    key: task.key,
    title: task.title,
    status,
    attempts: last?.number || task.attempts.length,
    agentId: last?.agentId ?? '',
    runId: last?.runId ?? '',
    output: status === 'completed' ? task.summary : '',
    problem: status === 'failed' ? task.blocker || (last?.detail ?? '') : '',
    refs: task.refs,
    task,
  }
}

function buildItemFromRead({ itemId, status, ...item }: JobItem): Item {
  const none = { attempts: 0, agentId: '', runId: '', output: '', problem: '', refs: [] }
  return { ...none, ...item, key: itemId, status: status, task: null }
}

export function countItems({ items }: JobRow): ItemCounts {
  return { completed: 0, failed: 0, running: 0, waiting: 0, cancelled: 0, ...items }
}

export function sumItems(counts: ItemCounts): number {
  return counts.completed + counts.failed + counts.running + counts.waiting + counts.cancelled
}

/** The task keys of all job items. */
export function listItemKeys(tasks: readonly TaskRow[]): ReadonlySet<string> {
  return new Set(tasks.filter(isItem).map((task) => task.key))
}

/** The title of the item that an agent works on; empty if there is none. */
export function findItemTitle(team: Team, agentId: string): string {
  const key = findAgent(team.agents, agentId)?.taskId ?? ''
  return team.tasks.find((task) => key !== '' && task.key === key && isItem(task))?.title ?? ''
}

/**
 * Remove the workers of finished items. There may be hundreds, and the list of items shows each of
 * them.
 */
export function hideDoneWorkers(team: Team): Team {
  const items = listItemKeys(team.tasks)
  if (items.size === 0) return team
  const isDone = (agent: AgentRow) => agent.state === 'closed' && items.has(agent.taskId)
  return { ...team, agents: team.agents.filter((agent) => !isDone(agent)) }
}

/** Failed jobs, which continue only when a person acts. */
export function listFailedJobs(tasks: readonly TaskRow[]): readonly JobRow[] {
  return tasks.filter(isJob).filter((job) => computeJobStatus(job) === 'failed')
}
