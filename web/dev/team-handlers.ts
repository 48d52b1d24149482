/** What a person did with a team, noted. */
import type { TeamHandlers } from '../src/features/shared/team-handlers'

/** Each handler tells its name and what it was given, agents by their id; what is asked for is taken. */
export function noting(onDid: (name: string, what: unknown) => void): TeamHandlers {
  const did =
    (name: string) =>
    (...given: readonly unknown[]) => {
      const what = given.map((argument) =>
        typeof argument === 'object' && argument !== null && 'agentId' in argument
          ? argument.agentId
          : argument,
      )
      onDid(name, what.length === 1 ? what[0] : what)
    }
  const taken =
    (name: string) =>
    async (...given: readonly unknown[]) => {
      did(name)(...given)
      return true
    }
  const noted =
    (name: string) =>
    async (...given: readonly unknown[]) => {
      did(name)(...given)
      return null
    }
  return {
    onOpenAgent: did('open agent'),
    onOpenRun: did('open run'),
    onStop: did('stop'),
    onResume: did('resume'),
    onClose: did('close'),
    onInput: taken('input'),
    onRetryAgent: did('retry agent'),
    onOffers: async () => [{ name: 'watcher', description: 'Looks at the folder now and then.' }],
    onAddAgent: noted('add agent'),
    onMerge: async (agent) => {
      onDid('merge', agent.agentId)
      return { status: 'nothing_to_merge' }
    },
    onAnswerHandoff: did('answer handoff'),
    onApplyReview: did('apply review'),
    onChangeTask: did('change task'),
    onNewTask: noted('new task'),
    onStartTask: did('start task'),
    onPauseTask: did('pause task'),
    onResumeTask: did('resume task'),
    onRetryTask: did('retry task'),
    onCancelTask: did('cancel task'),
    onAskJob: did('ask job'),
    onOpenJob: did('open job'),
    onPauseJob: did('pause job'),
    onResumeJob: did('resume job'),
    onCancelJob: did('cancel job'),
    onRetryItems: did('retry items'),
    onExportTask: did('export task'),
  }
}
