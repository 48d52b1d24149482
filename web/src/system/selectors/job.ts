/** Jobs as the surfaces want them: which tasks are theirs, and how each of them stands. Pure. */
import type { JobItem, JobRead, Ref } from '../generated/contracts'
import type { AgentRow, TaskRow } from '../rows/model'
import { agentOf, type Team } from './team'

export type ItemStanding = JobItem['status']
export type JobStanding = JobRead['status']

/** How many items of a job stand how. */
export interface Counts {
  readonly completed: number
  readonly failed: number
  readonly running: number
  readonly waiting: number
  readonly cancelled: number
}

/** A task that is a job. */
export type JobRow = TaskRow & { readonly items: NonNullable<TaskRow['items']> }

export function isJob(task: TaskRow): task is JobRow {
  return task.items !== null
}

/** An item stands with its job, and is no card of its own. */
export function isItem(task: TaskRow): boolean {
  return task.job !== '' && task.items === null
}

/** How a job stands. One that failed has items that failed, and none that could go on. */
export function jobStanding(task: TaskRow): JobStanding {
  if (task.status === 'done') return 'completed'
  if (task.status === 'cancelled') return 'cancelled'
  if (task.cancelling) return 'cancelling'
  if (task.paused) return 'paused'
  return task.ended > 0 ? 'failed' : 'running'
}

/** Whether what failed of a job that stands so can be tried again. One that is paused or over begins nothing. */
export function goesOn(standing: JobStanding): boolean {
  return standing === 'running' || standing === 'failed'
}

/** How an item stands, apart from its job. What failed before it was cancelled or paused still did. */
export function itemStanding(task: TaskRow): ItemStanding {
  const held = task.paused && task.ended > 0 && task.status === 'blocked'
  const ended = task.status === 'cancelled' && task.attempts.at(-1)?.status === 'failed'
  const stands = held || ended ? 'failed' : jobStanding(task)
  const waits = task.attempts.length === 0 || task.status === 'open' || task.status === 'claimed'
  return stands === 'running' && waits ? 'waiting' : stands
}

/** An item as it is shown. `task` is its row; null where the item is known by what was read of its job alone. */
export interface Item {
  readonly key: string
  readonly title: string
  readonly standing: ItemStanding
  readonly attempts: number
  readonly agentId: string
  readonly runId: string
  readonly output: string
  readonly problem: string
  readonly refs: readonly Ref[]
  readonly task: TaskRow | null
}

/** The items of a job in their order. Of those that are long over there may be no rows: they are told by what was `read`.
 *  What waits in a job that is paused is paused: nothing of it is begun. */
export function itemsOf(tasks: readonly TaskRow[], job: string, read: readonly JobItem[]): readonly Item[] {
  const mine = tasks.filter((task) => task.job === job)
  const rows = mine.filter(isItem).toSorted((a, b) => a.order - b.order)
  const here = new Map(rows.map((task) => [task.key, ofRow(task)]))
  const items =
    read.length === 0 ? [...here.values()] : read.map((item) => here.get(item.itemId) ?? ofRead(item))
  if (!mine.some((task) => isJob(task) && jobStanding(task) === 'paused')) return items
  return items.map((item) => (item.standing === 'waiting' ? { ...item, standing: 'paused' } : item))
}

function ofRow(task: TaskRow): Item {
  const last = task.attempts.at(-1)
  const standing = itemStanding(task)
  return {
    key: task.key,
    title: task.title,
    standing,
    attempts: last?.number || task.attempts.length,
    agentId: last?.agentId ?? '',
    runId: last?.runId ?? '',
    output: standing === 'completed' ? task.summary : '',
    problem: standing === 'failed' ? task.blocker || (last?.detail ?? '') : '',
    refs: task.refs,
    task,
  }
}

function ofRead({ itemId, status, ...item }: JobItem): Item {
  const none = { attempts: 0, agentId: '', runId: '', output: '', problem: '', refs: [] }
  return { ...none, ...item, key: itemId, standing: status, task: null }
}

export function countsOf({ items }: JobRow): Counts {
  return { completed: 0, failed: 0, running: 0, waiting: 0, cancelled: 0, ...items }
}

export function totalOf(counts: Counts): number {
  return counts.completed + counts.failed + counts.running + counts.waiting + counts.cancelled
}

/** The items of all jobs, by the key that an agent names its task by. */
export function itemKeys(tasks: readonly TaskRow[]): ReadonlySet<string> {
  return new Set(tasks.filter(isItem).map((task) => task.key))
}

/** The title of the item that an agent works on; empty where it works on none. */
export function itemTitleOf(team: Team, agentId: string): string {
  const key = agentOf(team.agents, agentId)?.taskId ?? ''
  return team.tasks.find((task) => key !== '' && task.key === key && isItem(task))?.title ?? ''
}

/** Without the workers whose item is done: there may be hundreds, and the list of items tells of each. */
export function withoutDoneWorkers(team: Team): Team {
  const items = itemKeys(team.tasks)
  if (items.size === 0) return team
  const done = (agent: AgentRow) => agent.state === 'closed' && items.has(agent.taskId)
  return { ...team, agents: team.agents.filter((agent) => !done(agent)) }
}

/** Jobs of which nothing more comes until a person says so. */
export function failedJobs(tasks: readonly TaskRow[]): readonly JobRow[] {
  return tasks.filter(isJob).filter((job) => jobStanding(job) === 'failed')
}
