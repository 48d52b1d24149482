import { useState } from 'react'
import { formatDuration, formatTimeOfDay } from '@/system/format/numbers'
import type { Part } from '@/system/rows/model'
import { findAgentName, type Team } from '@/system/selectors/team'
import { IconButton } from '@/ui/button'
import { Dot } from '@/ui/marks'
import { Select } from '@/ui/select'
import { useT } from '../shared/surface'
import { RUN_TONES } from '../shared/tones'
import { RunTimeline } from './run-timeline'

export interface RunListProps {
  readonly team: Team
  /** The run that is opened and pinned first; absent for the newest. */
  readonly opened?: string
  readonly getParts: (turnId: string) => readonly Part[]
  readonly onNeedParts: (turnId: string) => void
  readonly onOpenAgent: (agentId: string) => void
}

/** All runs of all agents. A pinned run stays on the screen when newer ones start. */
export function RunList(props: RunListProps) {
  const t = useT()
  const { team } = props
  const [agentId, setAgent] = useState('')
  const [pinned, setPinned] = useState(props.opened ?? '')
  const [chosen, setChosen] = useState({ run: '', newest: '' })
  const runs = team.runs.filter((run) => agentId === '' || run.agentId === agentId).toReversed()
  const newest = runs[0]?.key ?? ''
  // A newer run replaces an unpinned one, whatever the filter.
  const openedRun = chosen.newest === newest ? runs.find((run) => run.key === chosen.run) : undefined
  const selectedRun = team.runs.find((run) => run.key === pinned) ?? openedRun ?? runs[0]
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
          {runs.map((run) => (
            <li
              key={run.key}
              className={`relative rounded-md ${run === selectedRun ? 'bg-selected' : 'hover:bg-hover'}`}
            >
              <button
                type="button"
                aria-current={run === selectedRun ? 'true' : undefined}
                onClick={() => {
                  setChosen({ run: run.key, newest })
                  if (pinned !== '') setPinned(run.key)
                }}
                className="block w-full rounded-md py-1 pr-8 pl-2 text-left"
              >
                <span className="flex items-center gap-2">
                  <Dot tone={RUN_TONES[run.status]} active={run.status === 'running'} />
                  <span className="min-w-0 flex-1 truncate font-medium">
                    {findAgentName(team.agents, run.agentId)}
                  </span>
                  <span className="text-sm text-ink-faint">{t(`team.run.${run.status}`)}</span>
                </span>
                <span className="tabular block truncate pl-4 text-sm text-ink-faint">
                  {run.started > 0 ? formatTimeOfDay(run.started, t.locale) : t('app.unknown')}
                  {run.ended > 0 && ` · ${formatDuration((run.ended - run.started) / 1000, t.locale)}`}
                  {run.usage.toolCalls > 0 && ` · ${t.count('turn.tools', run.usage.toolCalls)}`}
                </span>
              </button>
              <IconButton
                icon="pin"
                label={t(pinned === run.key ? 'team.unpin_run' : 'team.pin_run')}
                aria-pressed={pinned === run.key}
                onClick={() => pin(run.key)}
                className={`absolute top-0.5 right-0.5 ${pinned === run.key ? 'text-accent' : ''}`}
              />
            </li>
          ))}
        </ul>
      </div>
      {selectedRun !== undefined && (
        <RunTimeline
          key={selectedRun.key}
          run={selectedRun}
          team={team}
          parts={props.getParts(selectedRun.turnId)}
          pinned={selectedRun.key === pinned}
          onNeedParts={props.onNeedParts}
          onOpenAgent={props.onOpenAgent}
        />
      )}
    </section>
  )
}
