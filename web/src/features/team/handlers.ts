import type { UpdateTask } from '@/system/generated/contracts'
import type { AgentRow } from '@/system/rows/model'

export type TaskChange = Omit<UpdateTask, 'sessionId' | 'taskId'>

/** What a person can do with a team. Each is a command of its owner; what it changes is shown when its fact comes. */
export interface TeamHandlers {
  readonly onOpenAgent: (agentId: string) => void
  /** Stop what an agent works on; it stays and may be given more to do. */
  readonly onStop: (agent: AgentRow) => void
  /** Stop a child for good. */
  readonly onClose: (agent: AgentRow) => void
  /** Gives whether the input was taken. */
  readonly onInput: (agent: AgentRow, text: string) => Promise<boolean>
  readonly onAnswerHandoff: (
    handoffId: string,
    decision: 'accept' | 'reject' | 'complete',
    reason: string,
  ) => void
  readonly onApplyReview: (reviewId: string, assignee: string | null) => void
  readonly onChangeTask: (taskId: string, change: TaskChange) => void
}
