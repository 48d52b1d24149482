import { type ReactNode, useEffect, useState } from 'react'
import { stripToolName } from '@/system/format/arguments'
import { formatClockTime, formatDuration } from '@/system/format/numbers'
import type { Part, RunRow, ToolPart } from '@/system/rows/model'
import {
  buildTimeline,
  GROUPS,
  getPartText,
  getSearchText,
  type Moment,
} from '@/system/selectors/run-timeline'
import { findAgentName, type Team } from '@/system/selectors/team'
import { Button } from '@/ui/button'
import { Icon, type IconName } from '@/ui/icon'
import { Badge } from '@/ui/marks'
import { RadioGroup } from '@/ui/radio-group'
import { describeUsage } from '../shared/agent-marks'
import { describeOutcome } from '../shared/code-texts'
import { useNames, useT } from '../shared/surface'
import { chooseTone, describeCallState } from '../tool/call-state'
import { describeTeamCall } from '../tool/team-call'
import { RunPrompts } from './run-prompts'

const ICONS: Readonly<Record<Moment['kind'], IconName>> = {
  started: 'play',
  ended: 'stop',
  tool: 'tool',
  spawned: 'plus',
  returned: 'check',
  handoff: 'arrowRight',
  text: 'thought',
}

const FILTERS = ['all', 'tools', 'team', 'messages'] as const

export function RunTimeline(props: {
  readonly run: RunRow
  readonly team: Team
  readonly parts: readonly Part[]
  readonly pinned: boolean
  readonly onNeedParts: (turnId: string) => void
  readonly onOpenAgent: (agentId: string) => void
}) {
  const t = useT()
  const { run, team, parts, onNeedParts } = props
  const [group, setGroup] = useState<(typeof FILTERS)[number]>('all')
  const [searchText, setSearchText] = useState('')
  const missing = parts.length === 0
  useEffect(() => {
    if (missing) onNeedParts(run.turnId)
  }, [missing, run.turnId, onNeedParts])
  const query = searchText.trim().toLocaleLowerCase(t.locale)
  const moments = buildTimeline(run, team, parts).filter(
    (moment) =>
      (group === 'all' || GROUPS[moment.kind] === group) &&
      (query === '' || getSearchText(moment).toLocaleLowerCase(t.locale).includes(query)),
  )
  const used = describeUsage(t, { ...run.usage, durationMs: 0 })
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <header className="flex min-h-10 flex-wrap items-center gap-x-2 gap-y-1 px-4 py-1">
        <h3 className="min-w-0 truncate font-semibold">{findAgentName(team.agents, run.agentId)}</h3>
        <span className="text-sm text-ink-soft">{t(`team.run.${run.status}`)}</span>
        {run.detail && (
          <span className="wrap-any text-sm text-ink-faint">{describeOutcome(t, run.detail)}</span>
        )}
        {used && <span className="tabular text-sm text-ink-faint">{used}</span>}
        {props.pinned && <Badge tone="accent">{t('team.pinned')}</Badge>}
        <Button className="ml-auto" onClick={() => props.onOpenAgent(run.agentId)}>
          {t('team.open_transcript')}
        </Button>
      </header>
      <RunPrompts prompts={run.prompts} />
      <div className="flex flex-wrap items-center gap-2 px-4 pb-2">
        <RadioGroup
          label={t('team.timeline_filter')}
          value={group}
          onChange={setGroup}
          choices={FILTERS.map((value) => ({ value, label: t(`team.timeline.${value}`) }))}
        />
        <input
          type="search"
          aria-label={t('team.timeline_search')}
          placeholder={t('team.timeline_search')}
          value={searchText}
          onChange={(event) => setSearchText(event.target.value)}
          className="h-7 min-w-36 flex-1 rounded-md border border-line-strong bg-paper px-2"
        />
      </div>
      <ol
        aria-label={t('team.timeline')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable list must be reachable by keyboard
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto px-4 pb-4 -outline-offset-2"
      >
        {moments.map((moment) => (
          <li key={moment.key} className="flex items-start gap-2 py-0.5">
            <span className="tabular w-14 shrink-0 text-right text-sm text-ink-faint">
              {moment.at > 0 &&
                run.started > 0 &&
                `+${formatDuration((moment.at - run.started) / 1000, t.locale)}`}
            </span>
            <Icon name={ICONS[moment.kind]} size={14} className="mt-[3px] text-ink-faint" />
            <MomentText moment={moment} />
          </li>
        ))}
        {moments.length === 0 && <li className="text-ink-faint">{t('team.timeline_empty')}</li>}
      </ol>
    </div>
  )
}

function MomentText({ moment }: { moment: Moment }) {
  const t = useT()
  switch (moment.kind) {
    case 'started':
      return <TextMoment>{t('team.run_started', { time: formatClockTime(moment.at, t.locale) })}</TextMoment>
    case 'ended':
      return <TextMoment>{t(`team.run_ended.${moment.run.status}`)}</TextMoment>
    case 'tool':
      return <ToolMoment part={moment.part} />
    case 'spawned':
      return <TextMoment>{t('team.moment.spawned', { agent: moment.agent })}</TextMoment>
    case 'returned':
      return (
        <TextMoment more={moment.summary}>
          {t('team.moment.returned', {
            agent: moment.agent,
            status: t(`team.notification.${moment.status}`),
          })}
        </TextMoment>
      )
    case 'handoff':
      return (
        <TextMoment more={moment.message}>
          {t(moment.out ? 'team.moment.handoff_out' : 'team.moment.handoff_in', { agent: moment.agent })}
        </TextMoment>
      )
    case 'text':
      return <TextMoment more={getPartText(moment.part)}>{t(`team.part.${moment.part.kind}`)}</TextMoment>
  }
}

function ToolMoment({ part }: { part: ToolPart }) {
  const t = useT()
  const call = describeTeamCall(t, part, useNames())
  return (
    <TextMoment more={call?.message ?? stripToolName(part.tool, part.summary)} mono={call === null}>
      <span className="font-medium">{call?.action ?? part.tool}</span>
      {part.state !== 'output-available' && (
        <span className={`text-sm ${chooseTone(part, false)}`}> {describeCallState(t, part, false)}</span>
      )}
    </TextMoment>
  )
}

function TextMoment(props: {
  readonly more?: string
  readonly mono?: boolean
  readonly children: ReactNode
}) {
  return (
    <span className="min-w-0 flex-1">
      <span>{props.children}</span>
      {props.more && (
        <span className={`wrap-any line-clamp-2 text-sm text-ink-soft ${props.mono ? 'font-mono' : ''}`}>
          {props.more}
        </span>
      )}
    </span>
  )
}
