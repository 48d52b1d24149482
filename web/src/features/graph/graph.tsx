import { lazy, Suspense, useMemo, useState } from 'react'
import { hideDoneWorkers } from '@/system/selectors/job'
import { buildLines, findOrphans, type Line, type Team } from '@/system/selectors/team'
import { Icon } from '@/ui/icon'
import { RadioGroup } from '@/ui/radio-group'
import { StateDot, StateText } from '../shared/agent-marks'
import { useT } from '../shared/surface'
import { describeLine } from './line-text'

// The drawing library is large, and a session without a team does not need it.
const Canvas = lazy(() => import('./graph-canvas'))

export interface GraphProps {
  readonly team: Team
  readonly openAgentId: string
  /** Whether the rows may be outdated. The graph stays unchanged. */
  readonly stale: boolean
  readonly onOpenAgent: (agentId: string) => void
}

/** Agents and their relations (parent, edge, handoff, wait), as a graph or as a list. */
export function Graph(props: GraphProps) {
  const t = useT()
  const { stale } = props
  const team = useMemo(() => hideDoneWorkers(props.team), [props.team])
  const [format, setFormat] = useState<'graph' | 'list'>('graph')
  const lines = buildLines(team)
  const orphans = findOrphans(team)
  return (
    <section aria-label={t('team.view.graph')} className="flex min-h-0 flex-1 flex-col">
      <div className="flex min-h-10 flex-wrap items-center gap-3 px-4 py-1.5 text-sm text-ink-faint">
        <RadioGroup
          label={t('team.graph.view')}
          value={format}
          onChange={setFormat}
          choices={[
            { value: 'graph', label: t('team.graph.canvas') },
            { value: 'list', label: t('team.graph.list') },
          ]}
        />
        {format === 'graph' && <Legend lines={lines} />}
        {stale && (
          <span role="status" className="flex items-center gap-1.5 font-medium text-warn">
            <Icon name="warning" size={12} />
            {t('team.graph.stale')}
          </span>
        )}
        {orphans.length > 0 && (
          <span className="flex items-center gap-1.5 text-warn">
            <Icon name="warning" size={12} />
            {t('team.graph.orphans', { agents: orphans.map((agent) => agent.name).join(', ') })}
          </span>
        )}
      </div>
      {format === 'graph' ? (
        <div className={`min-h-0 flex-1 ${stale ? 'opacity-60' : ''}`}>
          <Suspense fallback={<p className="p-4 text-ink-faint">{t('tool.loading')}</p>}>
            <Canvas
              team={team}
              lines={lines}
              openAgentId={props.openAgentId}
              onOpenAgent={props.onOpenAgent}
            />
          </Suspense>
        </div>
      ) : (
        <List {...props} team={team} lines={lines} />
      )}
    </section>
  )
}

const KINDS = ['child', 'path', 'handoff', 'wait', 'depends'] as const
const STROKES: Readonly<Record<(typeof KINDS)[number], string>> = {
  child: 'border-ink-faint',
  path: 'border-dotted border-ink-faint',
  handoff: 'border-accent',
  wait: 'border-dashed border-warn',
  depends: 'border-dashed border-ink-faint',
}

function Legend({ lines }: { lines: readonly Line[] }) {
  const t = useT()
  return KINDS.filter((kind) => lines.some((line) => line.edge.edgeType === kind)).map((kind) => (
    <span key={kind} className="flex items-center gap-1.5">
      <span aria-hidden="true" className={`w-5 border-t-2 ${STROKES[kind]}`} />
      {t(`team.edge.${kind}`)}
    </span>
  ))
}

function List({ team, lines, onOpenAgent }: GraphProps & { readonly lines: readonly Line[] }) {
  const t = useT()
  return (
    <ul className="min-h-0 flex-1 space-y-3 overflow-y-auto px-4 pb-4">
      {team.agents.map((agent) => (
        <li key={agent.key}>
          <div className="flex items-center gap-2">
            <StateDot agent={agent} />
            <button
              type="button"
              onClick={() => onOpenAgent(agent.agentId)}
              className="min-w-0 truncate rounded font-medium hover:underline"
            >
              {agent.name}
            </button>
            <StateText agent={agent} />
          </div>
          <ul className="pl-4 text-ink-soft">
            {lines
              .filter(
                (line) => line.source === agent || (line.target === agent && line.edge.direction === 'both'),
              )
              .map((line) => (
                <li key={line.edge.key} className="wrap-any">
                  {describeLine(t, line)}
                </li>
              ))}
          </ul>
        </li>
      ))}
    </ul>
  )
}
