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

function rowsOf<K extends Filled['kind']>(rows: readonly Filled[], kind: K) {
  return rows.filter((row): row is Extract<Filled, { kind: K }> => row.kind === kind)
}

export function TeamHost(props: {
  readonly rows: readonly WireRow[]
  readonly onDid: (name: string, what: unknown) => void
}) {
  const [view, setView] = useState<View>('board')
  const [job, setJob] = useState('')
  const rows = props.rows.flatMap((row) => fillRow(row) ?? [])
  const team: Team | null = buildTeam(rowsOf(rows, 'team')[0] ?? null, {
    agents: rowsOf(rows, 'agent'),
    edges: rowsOf(rows, 'edge'),
    tasks: rowsOf(rows, 'task'),
    handoffs: rowsOf(rows, 'handoff'),
    notifications: rowsOf(rows, 'notification'),
    reviews: rowsOf(rows, 'review'),
    messages: rowsOf(rows, 'message'),
    runs: rowsOf(rows, 'run'),
  })
  const did = (name: string) => (what: unknown, more?: unknown) =>
    props.onDid(name, more === undefined ? what : [what, more])
  const accept = (name: string) => async (what: unknown) => {
    props.onDid(name, what)
    return null
  }
  const handlers: TeamHandlers = {
    onOpenAgent: did('open agent'),
    onStop: (agent) => props.onDid('stop', agent.agentId),
    onResume: (agent) => props.onDid('resume', agent.agentId),
    onClose: (agent) => props.onDid('close', agent.agentId),
    onInput: async (agent, text) => {
      props.onDid('input', [agent.agentId, text])
      return true
    },
    onAnswerHandoff: (id, decision) => props.onDid('answer handoff', [id, decision]),
    onApplyReview: did('apply review'),
    onChangeTask: did('change task'),
    onOpenRun: did('open run'),
    onRetryAgent: (agent) => props.onDid('retry agent', agent.agentId),
    onOffers: async () => [],
    onAddAgent: accept('add agent'),
    onMerge: async () => null,
    onNewTask: accept('new task'),
    onStartTask: did('start task'),
    onPauseTask: did('pause task'),
    onResumeTask: did('resume task'),
    onRetryTask: did('retry task'),
    onCancelTask: did('cancel task'),
    onAskJob: () => props.onDid('ask job', null),
    onOpenJob: (taskId) => {
      setJob(taskId)
      setView('board')
    },
    onPauseJob: did('pause job'),
    onResumeJob: did('resume job'),
    onCancelJob: did('cancel job'),
    onRetryItems: did('retry items'),
    onExportTask: did('export task'),
  }
  if (team === null) return <p data-testid="solo" />
  const action = rowsOf(rows, 'action')[0]
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
        <RunList team={team} partsOf={() => []} onNeedParts={() => {}} onOpenAgent={handlers.onOpenAgent} />
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
          onAnswer={(answer) => props.onDid('answer', [action.actionId, answer.decision])}
          onNext={() => {}}
        />
      )}
    </SurfaceProvider>
  )
}
