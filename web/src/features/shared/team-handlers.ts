import type { CreateJob, CreateTask, UpdateTask } from '@/system/generated/contracts'
import type { AgentRow } from '@/system/rows/model'
import type { Refusal } from '@/system/stores/notice-store'

export type TaskChange = Omit<UpdateTask, 'sessionId' | 'taskId'>
/** The outcome of a merge: all changes, or none. */
export interface MergeOutcome {
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

/** Actions on a team. Each sends a command; the change appears with its fact. */
export interface TeamHandlers {
  readonly onOpenAgent: (agentId: string) => void
  readonly onOpenRun: (runId: string) => void
  /** Stop an agent's current work. The agent stays. */
  readonly onStop: (agent: AgentRow) => void
  /** Resume a paused agent. */
  readonly onResume: (agent: AgentRow) => void
  /** Close a subagent. */
  readonly onClose: (agent: AgentRow) => void
  /** Returns whether the input was accepted. */
  readonly onInput: (agent: AgentRow, text: string) => Promise<boolean>
  /** Retry an unreachable agent. */
  readonly onRetryAgent: (agent: AgentRow) => void
  /** Returns the agents that can be added; none if unknown. */
  readonly onOffers: () => Promise<readonly AgentOffer[]>
  /** Add an agent to the session. Returns the refusal, or null. */
  readonly onAddAgent: (name: string) => Promise<Refusal | null>
  /** Merge a subagent's worktree. Returns the outcome; null if it was refused. */
  readonly onMerge: (agent: AgentRow) => Promise<MergeOutcome | null>
  readonly onAnswerHandoff: (
    handoffId: string,
    decision: 'accept' | 'reject' | 'complete',
    reason: string,
  ) => void
  readonly onApplyReview: (reviewId: string, assignee: string | null) => void
  readonly onChangeTask: (taskId: string, change: TaskChange) => void
  /** Create a task. Returns the refusal, or null. */
  readonly onNewTask: (task: NewTask) => Promise<Refusal | null>
  readonly onStartTask: (taskId: string) => void
  readonly onPauseTask: (taskId: string) => void
  readonly onResumeTask: (taskId: string) => void
  readonly onRetryTask: (taskId: string) => void
  readonly onCancelTask: (taskId: string) => void
  /** Open the dialog for a new job. */
  readonly onAskJob: () => void
  /** Show the job of this task; the board if the id is empty. */
  readonly onOpenJob: (taskId: string) => void
  readonly onPauseJob: (jobId: string) => void
  readonly onResumeJob: (jobId: string) => void
  readonly onCancelJob: (jobId: string) => void
  /** Retry a failed item, or all failed items if the id is null. */
  readonly onRetryItems: (jobId: string, itemId: string | null) => void
  /** Export the evidence of a task. */
  readonly onExportTask: (taskId: string) => void
}
