/** The views of a team, loaded on demand. */
import { Board } from '@/features/board/board'
import { Graph } from '@/features/graph/graph'
import { Lanes } from '@/features/lanes/lanes'
import { RunList } from '@/features/run/run-list'
import type { TeamHandlers } from '@/features/shared/team-handlers'
import type { View } from '@/features/team/team-bar'
import type { Team } from '@/system/selectors/team'
import type { Session } from '@/system/workbench/session'
import { useJobItems } from '../job/use-job-items'
import { useSignal } from '../use-signal'

export default function TeamView(props: {
  readonly session: Session
  readonly team: Team
  readonly view: Exclude<View, 'conversation'>
  readonly openAgentId: string
  /** The requested run; empty if there is none. */
  readonly run: string
  /** The task of the requested job; empty if there is none. */
  readonly job: string
  /** Whether the person opened the job here. */
  readonly takesFocus: boolean
  readonly handlers: TeamHandlers
  readonly onNeedParts: (turnId: string) => void
}) {
  const { session, team, handlers } = props
  useSignal(session.feed.changes)
  const stale = session.feed.connection !== 'live' || team.row.degraded.includes('snapshot_stale')
  const items = useJobItems(session, team, props.job)
  const parts = session.feed.rows.getPanel('parts')
  switch (props.view) {
    case 'graph':
      return (
        <Graph team={team} openAgentId={props.openAgentId} stale={stale} onOpenAgent={handlers.onOpenAgent} />
      )
    case 'board':
      return (
        <Board team={team} job={props.job} items={items} takesFocus={props.takesFocus} handlers={handlers} />
      )
    case 'lanes':
      return <Lanes team={team} handlers={handlers} />
    case 'runs':
      return (
        <RunList
          key={props.run}
          team={team}
          opened={props.run}
          getParts={(turnId) => parts.listTurn(turnId)}
          onNeedParts={props.onNeedParts}
          onOpenAgent={handlers.onOpenAgent}
        />
      )
  }
}
