/** A minimal host of the team surfaces: rows in, actions out. */
import {
  ApprovalCard,
  Board,
  buildTeam,
  createTranslator,
  en,
  fillRow,
  findAsker,
  Graph,
  Lanes,
  Roster,
  RunList,
  type Surface,
  SurfaceProvider,
  type Team,
  TeamBar,
  type TeamHandlers,
  type View,
  type WireRow,
} from 'callboard-web/surfaces'
import { useState } from 'react'

const SURFACE: Surface = {
  t: createTranslator({ ...en, 'team.lead': 'Captain' }, 'en'),
  blobs: { get: () => undefined, load: () => {}, subscribe: () => () => {} },
}

type Filled = NonNullable<ReturnType<typeof fillRow>>

function listRows<K extends Filled['kind']>(rows: readonly Filled[], kind: K) {
  return rows.filter((row): row is Extract<Filled, { kind: K }> => row.kind === kind)
}

export function TeamHost(props: {
  readonly rows: readonly WireRow[]
  readonly onAction: (name: string, value: unknown) => void
}) {
  const [view, setView] = useState<View>('board')
  const [job, setJob] = useState('')
  const rows = props.rows.flatMap((row) => fillRow(row) ?? [])
  const team: Team | null = buildTeam(listRows(rows, 'team')[0] ?? null, {
    agents: listRows(rows, 'agent'),
    edges: listRows(rows, 'edge'),
    tasks: listRows(rows, 'task'),
    handoffs: listRows(rows, 'handoff'),
    notifications: listRows(rows, 'notification'),
    reviews: listRows(rows, 'review'),
    messages: listRows(rows, 'message'),
    runs: listRows(rows, 'run'),
  })
  const report = (name: string) => (value: unknown, more?: unknown) =>
    props.onAction(name, more === undefined ? value : [value, more])
  const accept = (name: string) => async (value: unknown) => {
    props.onAction(name, value)
    return null
  }
  const handlers: TeamHandlers = {
    onOpenAgent: report('open agent'),
    onStop: (agent) => props.onAction('stop', agent.agentId),
    onResume: (agent) => props.onAction('resume', agent.agentId),
    onClose: (agent) => props.onAction('close', agent.agentId),
    onInput: async (agent, text) => {
      props.onAction('input', [agent.agentId, text])
      return true
    },
    onAnswerHandoff: (id, decision) => props.onAction('answer handoff', [id, decision]),
    onApplyReview: report('apply review'),
    onChangeTask: report('change task'),
    onOpenRun: report('open run'),
    onRetryAgent: (agent) => props.onAction('retry agent', agent.agentId),
    onOffers: async () => [],
    onAddAgent: accept('add agent'),
    onMerge: async () => null,
    onNewTask: accept('new task'),
    onStartTask: report('start task'),
    onPauseTask: report('pause task'),
    onResumeTask: report('resume task'),
    onRetryTask: report('retry task'),
    onCancelTask: report('cancel task'),
    onAskJob: () => props.onAction('ask job', null),
    onOpenJob: (taskId) => {
      setJob(taskId)
      setView('board')
    },
    onPauseJob: report('pause job'),
    onResumeJob: report('resume job'),
    onCancelJob: report('cancel job'),
    onRetryItems: report('retry items'),
    onExportTask: report('export task'),
  }
  if (team === null) return <p data-testid="solo" />
  const action = listRows(rows, 'action')[0]
  const asker = action === undefined ? null : findAsker(team, action)
  return (
    <SurfaceProvider value={SURFACE}>
      <TeamBar
        team={team}
        view={view}
        onView={setView}
        onOpenAgent={handlers.onOpenAgent}
        onResume={handlers.onResume}
        openAgentId=""
        onOpenJob={handlers.onOpenJob}
      />
      <Roster team={team} openAgentId="" handlers={handlers} />
      {view === 'board' && <Board team={team} job={job} handlers={handlers} />}
      {view === 'graph' && (
        <Graph team={team} openAgentId="" stale={false} onOpenAgent={handlers.onOpenAgent} />
      )}
      {view === 'lanes' && <Lanes team={team} handlers={handlers} />}
      {view === 'runs' && (
        <RunList team={team} getParts={() => []} onNeedParts={() => {}} onOpenAgent={handlers.onOpenAgent} />
      )}
      {action !== undefined && (
        <ApprovalCard
          action={action}
          agentName={asker?.name ?? ''}
          parentName={asker?.parent ?? ''}
          index={0}
          count={1}
          answered={null}
          takesFocus={false}
          onAnswer={(answer) => props.onAction('answer', [action.actionId, answer.decision])}
          onNext={() => {}}
        />
      )}
    </SurfaceProvider>
  )
}
