import { useState } from 'react'
import { formatDuration, formatTimeOfDay } from '@/system/format/numbers'
import type { Part } from '@/system/rows/model'
import { agentName, type Team } from '@/system/selectors/team'
import { IconButton } from '@/ui/button'
import { Dot } from '@/ui/marks'
import { Select } from '@/ui/select'
import { useT } from '../shared/surface'
import { RUN_TONES } from '../shared/tones'
import { RunTimeline } from './run-timeline'

export interface RunsProps {
  readonly team: Team
  /** The run that is looked at first, pinned; left out where the newest is. */
  readonly opened?: string
  readonly partsOf: (turnId: string) => readonly Part[]
  readonly onNeedParts: (turnId: string) => void
  readonly onOpenAgent: (agentId: string) => void
}

/** Every execution of every agent. A pinned one stays on the screen however many newer ones start. */
export function Runs(props: RunsProps) {
  const t = useT()
  const { team } = props
  const [agentId, setAgent] = useState('')
  const [pinned, setPinned] = useState(props.opened ?? '')
  const [chosen, setChosen] = useState({ run: '', newest: '' })
  const runs = team.runs.filter((run) => agentId === '' || run.agentId === agentId).toReversed()
  const newest = runs[0]?.key ?? ''
  // A run that was only looked at gives way to a newer one; a pinned one does not, whatever is filtered.
  const looked = chosen.newest === newest ? runs.find((run) => run.key === chosen.run) : undefined
  const run = team.runs.find((run) => run.key === pinned) ?? looked ?? runs[0]
  const pin = (key: string) => setPinned(pinned === key ? '' : key)
  if (team.runs.length === 0) return <p className="flex-1 p-4 text-ink-faint">{t('team.runs_empty')}</p>
  return (
    <section aria-label={t('team.view.runs')} className="flex min-h-0 flex-1 max-sm:flex-col">
      <div className="flex min-h-0 w-[300px] shrink-0 flex-col border-r border-line max-sm:h-[46%] max-sm:w-full max-sm:border-r-0 max-sm:border-b">
        <div className="flex h-10 shrink-0 items-center px-2">
          <Select
            label={t('team.runs_of')}
            value={agentId}
            onChange={setAgent}
            choices={[
              { value: '', label: t('team.all_agents') },
              ...team.agents.map((agent) => ({ value: agent.agentId, label: agent.name })),
            ]}
          />
        </div>
        <ul aria-label={t('team.view.runs')} className="min-h-0 flex-1 overflow-y-auto px-2 pb-2">
          {runs.map((one) => (
            <li
              key={one.key}
              className={`relative rounded-md ${one === run ? 'bg-selected' : 'hover:bg-hover'}`}
            >
              <button
                type="button"
                aria-current={one === run ? 'true' : undefined}
                onClick={() => {
                  setChosen({ run: one.key, newest })
                  if (pinned !== '') setPinned(one.key)
                }}
                className="block w-full rounded-md py-1 pr-8 pl-2 text-left"
              >
                <span className="flex items-center gap-2">
                  <Dot tone={RUN_TONES[one.status]} active={one.status === 'running'} />
                  <span className="min-w-0 flex-1 truncate font-medium">
                    {agentName(team.agents, one.agentId)}
                  </span>
                  <span className="text-sm text-ink-faint">{t(`team.run.${one.status}`)}</span>
                </span>
                <span className="tabular block truncate pl-4 text-sm text-ink-faint">
                  {one.started > 0 ? formatTimeOfDay(one.started, t.locale) : t('app.unknown')}
                  {one.ended > 0 && ` · ${formatDuration((one.ended - one.started) / 1000, t.locale)}`}
                  {one.usage.toolCalls > 0 && ` · ${t.count('turn.tools', one.usage.toolCalls)}`}
                </span>
              </button>
              <IconButton
                icon="pin"
                label={t(pinned === one.key ? 'team.unpin_run' : 'team.pin_run')}
                aria-pressed={pinned === one.key}
                onClick={() => pin(one.key)}
                className={`absolute top-0.5 right-0.5 ${pinned === one.key ? 'text-accent' : ''}`}
              />
            </li>
          ))}
        </ul>
      </div>
      {run !== undefined && (
        <RunTimeline
          key={run.key}
          run={run}
          team={team}
          parts={props.partsOf(run.turnId)}
          pinned={run.key === pinned}
          onNeedParts={props.onNeedParts}
          onOpenAgent={props.onOpenAgent}
        />
      )}
    </section>
  )
}
