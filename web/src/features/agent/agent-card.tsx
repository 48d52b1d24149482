import { useState } from 'react'
import type { Key, Translate } from '@/system/i18n/translate'
import type { AgentRow } from '@/system/rows/model'
import { findItemTitle } from '@/system/selectors/job'
import { canResume, findChildren, hasEnded, needsAttention, type Team } from '@/system/selectors/team'
import { IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Badge } from '@/ui/marks'
import { Menu } from '@/ui/menu/menu'
import type { MenuEntry } from '@/ui/menu/open-menu'
import { useNow } from '@/ui/use-now'
import {
  describeDegradation,
  describeQueueReason,
  describeUsage,
  StateDot,
  StateText,
} from '../shared/agent-marks'
import { describeActivity } from '../shared/code-texts'
import { useReadOnly, useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { AgentFacts } from './agent-facts'
import { canPause, hasFinished, wakeText } from './background-agent'
import { isUnreachable } from './remote-agent'

/** Dialogs of an agent: confirmations, and actions that need more input. */
export type AgentDialog = 'stop' | 'close' | 'input' | 'end' | 'merge'

export interface AgentCardProps {
  readonly agent: AgentRow
  readonly team: Team
  readonly isOpen: boolean
  readonly handlers: TeamHandlers
  readonly onAsk: (dialog: AgentDialog) => void
}

/** An agent: name, state, current activity and queued work. */
export function AgentCard(props: AgentCardProps) {
  const t = useT()
  const { agent, team, isOpen } = props
  const [open, setOpen] = useState(false)
  const forReading = useReadOnly()
  const clock = useNow(10_000)
  const item = findItemTitle(team, agent.agentId)
  const now = describeNow(t, agent, team, clock)
  const waits = [
    agent.inbox > 0 ? t.count('team.inbox', agent.inbox) : '',
    agent.queuedTurns > 0 ? t.count('team.queued', agent.queuedTurns) : '',
  ].filter(Boolean)
  const used = describeUsage(t, agent.usage)
  const runs = team.runs.filter((run) => run.agentId === agent.agentId).length
  const children = findChildren(team.agents, agent).length
  const line = [
    ...waits,
    children > 0 ? t.count('team.children', children) : '',
    runs > 1 ? t.count('team.runs', runs) : '',
    used,
  ].filter(Boolean)
  return (
    <li className={`group relative rounded-md ${isOpen ? 'bg-selected' : 'hover:bg-hover'}`}>
      <button
        type="button"
        aria-current={isOpen ? 'true' : undefined}
        title={agent.description || undefined}
        onClick={() => props.handlers.onOpenAgent(agent.agentId)}
        className="block w-full rounded-md py-1.5 pr-16 pl-2 text-left"
      >
        <span className="flex items-center gap-2">
          <StateDot agent={agent} />
          <span className={`truncate font-medium ${item ? 'max-w-3/5 shrink-0' : 'min-w-0'}`}>
            {agent.name}
          </span>
          {agent.agentId === team.row.lead ? (
            <Badge tone="accent">{t('team.lead')}</Badge>
          ) : (
            <span className="truncate text-sm text-ink-faint">
              {item ? t('team.at_item', { item }) : t(getRoleKey(agent))}
            </span>
          )}
        </span>
        <span className="flex min-w-0 items-baseline gap-1.5 pl-4">
          <StateText agent={agent} />
          {now && <span className="truncate text-sm text-ink-soft">{now}</span>}
        </span>
        {line.length > 0 && (
          <span className="tabular block truncate pl-4 text-sm text-ink-faint">{line.join(' · ')}</span>
        )}
        <Marks agent={agent} />
      </button>
      <span className="absolute top-0.5 right-0.5 flex">
        <IconButton
          icon={open ? 'chevronDown' : 'chevronRight'}
          label={t(open ? 'team.hide_facts' : 'team.show_facts', { agent: agent.name })}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        />
        {!forReading && (
          <Menu
            trigger={
              <IconButton
                aria-haspopup="menu"
                icon="more"
                label={t('team.agent_menu', { agent: agent.name })}
              />
            }
            entries={buildMenu(t, agent, props)}
          />
        )}
      </span>
      {open && (
        <AgentFacts agent={agent} team={team} handlers={props.handlers} onEnd={() => props.onAsk('end')} />
      )}
    </li>
  )
}

/** Badges of an agent: lost connection, stall, degraded view, unmerged work. */
function Marks({ agent }: { agent: AgentRow }) {
  const t = useT()
  const marks = [
    agent.connection === 'disconnected' ? t('team.connection.disconnected') : '',
    agent.stalledSince > 0 ? t('team.stalled') : '',
    // While the agent is working there is nothing to merge yet.
    agent.unmerged && (hasEnded(agent.state) || agent.state === 'idle') ? t('team.unmerged') : '',
    ...agent.degraded
      .filter((degradation) => degradation !== 'permission_blocked' || !needsAttention(agent.state))
      .map((degradation) => describeDegradation(t, degradation, agent.blockedOn !== '')),
  ].filter(Boolean)
  return marks.map((mark) => (
    <span key={mark} className="flex items-start gap-1.5 pl-4 text-sm text-warn">
      <Icon name="warning" size={12} className="mt-[3px]" />
      <span className="min-w-0 flex-1">{mark}</span>
    </span>
  ))
}

function describeNow(t: Translate, agent: AgentRow, team: Team, clock: number): string {
  if (agent.queueReason !== null) {
    const limits = { active: team.row.teamActiveCount, budget: team.row.teamParallelBudget }
    const queueReason = describeQueueReason(t, agent.queueReason, limits)
    return agent.queuePosition > 0
      ? `${queueReason} · ${t('queue.position', { position: agent.queuePosition })}`
      : queueReason
  }
  if (agent.state === 'needs_input') return describeActivity(t, agent.tool) ?? agent.tool
  if (agent.background !== null && agent.state !== 'running') {
    const at = wakeText(t, agent.background, clock)
    return at === '' ? '' : t('team.background.next_run', { at })
  }
  const taskState = agent.remote?.taskState ?? null
  if (taskState !== null) return t('team.remote.last_status', { state: t(`team.remote.task.${taskState}`) })
  if (hasEnded(agent.state) || agent.state === 'failed') return agent.result.text || agent.objective.text
  return agent.state === 'running' ? '' : agent.objective.text
}

function buildMenu(
  t: Translate,
  agent: AgentRow,
  { handlers, onAsk }: Pick<AgentCardProps, 'handlers' | 'onAsk'>,
): readonly MenuEntry[] {
  const child = agent.agentKind === 'subagent'
  const entries: MenuEntry[] = []
  if (agent.state !== 'closed') {
    entries.push({ id: 'input', label: t('team.input'), icon: 'edit', onSelect: () => onAsk('input') })
  }
  if (!hasEnded(agent.state) && agent.state !== 'idle' && agent.state !== 'failed') {
    entries.push({ id: 'stop', label: t('team.stop'), icon: 'stop', onSelect: () => onAsk('stop') })
  }
  if (canResume(agent)) {
    const onSelect = () => handlers.onResume(agent)
    entries.push({ id: 'resume', label: t('team.resume_agent'), icon: 'play', onSelect })
  }
  entries.push(...sleepEntries(t, agent, { handlers, onAsk }))
  if (isUnreachable(agent)) {
    const onSelect = () => handlers.onRetryAgent(agent)
    entries.push({ id: 'retry', label: t('team.remote.retry'), icon: 'play', onSelect })
  }
  if (child && agent.branch !== '') {
    entries.push({ id: 'merge', label: t('team.merge'), icon: 'check', onSelect: () => onAsk('merge') })
  }
  if (child && agent.state !== 'closed') {
    entries.push({
      id: 'close',
      label: t('team.close'),
      icon: 'close',
      danger: true,
      onSelect: () => onAsk('close'),
    })
  }
  return entries
}

/** Menu entries for a background agent. */
function sleepEntries(
  t: Translate,
  { background }: AgentRow,
  { handlers, onAsk }: Pick<AgentCardProps, 'handlers' | 'onAsk'>,
): readonly MenuEntry[] {
  if (background === null || hasFinished(background.state)) return []
  const { taskId } = background
  const rest: MenuEntry = canPause(background)
    ? { id: 'pause', label: t('team.pause'), icon: 'pause', onSelect: () => handlers.onPauseTask(taskId) }
    : {
        id: 'resume',
        label: t('team.resume_agent'),
        icon: 'play',
        onSelect: () => handlers.onResumeTask(taskId),
      }
  return [rest, { id: 'end', label: t('team.end'), icon: 'stop', danger: true, onSelect: () => onAsk('end') }]
}

/** The text for an agent's role or kind. */
function getRoleKey({ agentKind, role }: AgentRow): Key {
  if (role !== 'custom') return `team.role.${role}`
  return agentKind === 'human' || agentKind === 'remote' ? `team.kind.${agentKind}` : 'team.role.custom'
}
