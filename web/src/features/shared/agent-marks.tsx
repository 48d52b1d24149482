import { formatCount, formatDuration } from '@/system/format/numbers'
import type { Translate } from '@/system/i18n/translate'
import type { AgentRow, Degraded, QueueReason, Usage } from '@/system/rows/model'
import { needsAttention } from '@/system/selectors/team'
import { Dot, type Tone } from '@/ui/marks'
import { doingText } from './code-texts'
import { useT } from './surface'

const TONES: Readonly<Record<AgentRow['state'], Tone>> = {
  needs_input: 'warn',
  plan_ready: 'warn',
  failed: 'bad',
  lost: 'warn',
  running: 'accent',
  spawning: 'accent',
  waiting: 'quiet',
  unknown: 'quiet',
  idle: 'quiet',
  completed: 'good',
  killed: 'quiet',
  closed: 'quiet',
}

const INKS: Readonly<Record<Tone, string>> = {
  quiet: 'text-ink-faint',
  accent: 'text-ink-soft',
  good: 'text-ink-soft',
  warn: 'text-warn',
  bad: 'text-bad',
}

export function StateDot({ agent }: { agent: AgentRow }) {
  return <Dot tone={TONES[agent.state]} active={agent.state === 'running'} />
}

/** The state in words, or what it does where it runs. What needs a person is heavier than the rest. */
export function StateText({ agent }: { agent: AgentRow }) {
  const t = useT()
  const doing = agent.state === 'running' && !QUIET.has(agent.activity)
  return (
    <span
      className={`text-sm ${doing ? 'truncate' : 'whitespace-nowrap'} ${INKS[TONES[agent.state]]} ${needsAttention(agent.state) ? 'font-semibold' : ''}`}
    >
      {doing
        ? ((usesTool(agent) ? doingText(t, agent.tool) : null) ??
          t(`status.${agent.activity}`, { tool: agent.tool || t('status.a_tool') }))
        : standsText(t, agent)}
    </span>
  )
}

function usesTool(agent: AgentRow): boolean {
  return agent.activity === 'running_tool' || agent.activity === 'calling_tool'
}

/** How it stands. One that wakes by itself is told by its sleep while nothing of it runs and nothing is asked. */
export function standsText(t: Translate, agent: AgentRow): string {
  const quiet = agent.state === 'idle' || agent.state === 'waiting' || agent.state === 'completed'
  if (agent.background !== null && quiet) return t(`team.background.${agent.background.state}`)
  return agent.state === 'needs_input' && agent.paused !== null
    ? t(`team.paused.${agent.paused}`)
    : t(`team.state.${agent.state}`)
}

/** What the view of a team lacks. What a person was asked is no lack of a permission: it waits for them. */
export function degradedText(t: Translate, how: Degraded, asked: boolean): string {
  return t(how === 'permission_blocked' && asked ? 'team.waits.approval' : `team.degraded.${how}`)
}

/** Why an agent has no slot yet. That is a limit, and no failure. */
export function queueText(
  t: Translate,
  reason: QueueReason,
  limits: { readonly active: number; readonly budget: number },
): string {
  if (reason === 'parallel_budget' && limits.budget > 0) return t('team.waits.parallel_budget', limits)
  if (reason === 'provider_budget') return t('team.waits.provider_budget')
  if (reason === 'worktree') return t('team.waits.worktree')
  return t('team.waits.slot')
}

/** What work took; what no provider told is left out. */
export function usageText(t: Translate, usage: Usage): string {
  const said: string[] = []
  if (usage.toolCalls > 0) said.push(t.count('turn.tools', usage.toolCalls))
  if (usage.inputTokens + usage.outputTokens > 0) {
    said.push(t('team.tokens', { tokens: formatCount(usage.inputTokens + usage.outputTokens, t.locale) }))
  }
  if (usage.durationMs > 0) said.push(formatDuration(usage.durationMs, t.locale))
  return said.join(' · ')
}

const QUIET: ReadonlySet<AgentRow['activity']> = new Set([
  'ready',
  'completed',
  'failed',
  'interrupted',
  'lost',
])
