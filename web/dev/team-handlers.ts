/** Team handlers that record their calls. */
import type { TeamHandlers } from '../src/features/shared/team-handlers'

/** Build handlers that report their name and arguments (agents by id) and accept every request. */
export function recordHandlers(onAction: (name: string, value: unknown) => void): TeamHandlers {
  const report =
    (name: string) =>
    (...args: readonly unknown[]) => {
      const values = args.map((argument) =>
        typeof argument === 'object' && argument !== null && 'agentId' in argument
          ? argument.agentId
          : argument,
      )
      onAction(name, values.length === 1 ? values[0] : values)
    }
  const reportTrue =
    (name: string) =>
    async (...args: readonly unknown[]) => {
      report(name)(...args)
      return true
    }
  const reportNull =
    (name: string) =>
    async (...args: readonly unknown[]) => {
      report(name)(...args)
      return null
    }
  return {
    onOpenAgent: report('open agent'),
    onOpenRun: report('open run'),
    onStop: report('stop'),
    onResume: report('resume'),
    onClose: report('close'),
    onInput: reportTrue('input'),
    onRetryAgent: report('retry agent'),
    onOffers: async () => [{ name: 'watcher', description: 'Looks at the folder now and then.' }],
    onAddAgent: reportNull('add agent'),
    onMerge: async (agent) => {
      onAction('merge', agent.agentId)
      return { status: 'nothing_to_merge' }
    },
    onAnswerHandoff: report('answer handoff'),
    onApplyReview: report('apply review'),
    onChangeTask: report('change task'),
    onNewTask: reportNull('new task'),
    onStartTask: report('start task'),
    onPauseTask: report('pause task'),
    onResumeTask: report('resume task'),
    onRetryTask: report('retry task'),
    onCancelTask: report('cancel task'),
    onAskJob: report('ask job'),
    onOpenJob: report('open job'),
    onPauseJob: report('pause job'),
    onResumeJob: report('resume job'),
    onCancelJob: report('cancel job'),
    onRetryItems: report('retry items'),
    onExportTask: report('export task'),
  }
}
