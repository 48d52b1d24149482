import type { CreateJob, CreateTask, UpdateTask } from '@/system/generated/contracts'
import type { AgentRow } from '@/system/rows/model'
import type { Refusal } from '@/system/stores/notice-store'

export type TaskChange = Omit<UpdateTask, 'sessionId' | 'taskId'>
/** What came of a merge: all of it, or nothing. */
export interface Merged {
  readonly status: 'merged' | 'nothing_to_merge' | 'conflict'
  readonly files?: readonly string[]
  readonly conflict?: readonly string[]
}

/** An agent that can be added. */
export interface AgentOffer {
  readonly name: string
  readonly description: string
}

export type NewTask = Omit<CreateTask, 'sessionId' | 'taskId'>
export type NewJob = Omit<CreateJob, 'sessionId' | 'workspaceId'>

/** What a person can do with a team. Each is a command of its owner; what it changes is shown when its fact comes. */
export interface TeamHandlers {
  readonly onOpenAgent: (agentId: string) => void
  readonly onOpenRun: (runId: string) => void
  /** Stop what an agent works on; it stays and may be given more to do. */
  readonly onStop: (agent: AgentRow) => void
  /** Give a paused agent a run. */
  readonly onResume: (agent: AgentRow) => void
  /** Stop a child for good. */
  readonly onClose: (agent: AgentRow) => void
  /** Gives whether the input was taken. */
  readonly onInput: (agent: AgentRow, text: string) => Promise<boolean>
  /** Ask an agent that could not be reached once more. */
  readonly onRetryAgent: (agent: AgentRow) => void
  /** Asks which agents of the folder can be added; none where that is not known. */
  readonly onOffers: () => Promise<readonly AgentOffer[]>
  /** Take an agent of the folder into the session. Gives why not; null where it was taken. */
  readonly onAddAgent: (name: string) => Promise<Refusal | null>
  /** Merge what a child did in its worktree. Gives what came of it; null where it was refused. */
  readonly onMerge: (agent: AgentRow) => Promise<Merged | null>
  readonly onAnswerHandoff: (
    handoffId: string,
    decision: 'accept' | 'reject' | 'complete',
    reason: string,
  ) => void
  readonly onApplyReview: (reviewId: string, assignee: string | null) => void
  readonly onChangeTask: (taskId: string, change: TaskChange) => void
  /** Put a task on the board. Gives why not; null where it was taken. */
  readonly onNewTask: (task: NewTask) => Promise<Refusal | null>
  readonly onStartTask: (taskId: string) => void
  readonly onPauseTask: (taskId: string) => void
  readonly onResumeTask: (taskId: string) => void
  readonly onRetryTask: (taskId: string) => void
  readonly onCancelTask: (taskId: string) => void
  /** Ask what a new job is to be. */
  readonly onAskJob: () => void
  /** Show the items of the job that this task is; of none, the board. */
  readonly onOpenJob: (taskId: string) => void
  readonly onPauseJob: (jobId: string) => void
  readonly onResumeJob: (jobId: string) => void
  readonly onCancelJob: (jobId: string) => void
  /** Another attempt of an item that failed; of all that did where none is named. */
  readonly onRetryItems: (jobId: string, itemId: string | null) => void
  /** Export what proves a task. */
  readonly onExportTask: (taskId: string) => void
}
