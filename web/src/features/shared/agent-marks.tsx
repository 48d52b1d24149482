import { formatCount, formatDuration } from '@/system/format/numbers'
import type { Translate } from '@/system/i18n/translate'
import type { AgentRow, Degraded, QueueReason, Usage } from '@/system/rows/model'
import { needsAttention } from '@/system/selectors/team'
import { Dot, type Tone } from '@/ui/marks'
import { describeActivity } from './code-texts'
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

/**
 * The state of an agent, or its activity while it is running. States that need a person are bold.
 */
export function StateText({ agent }: { agent: AgentRow }) {
  const t = useT()
  const isWorking = agent.state === 'running' && !QUIET.has(agent.activity)
  return (
    <span
      className={`text-sm ${isWorking ? 'truncate' : 'whitespace-nowrap'} ${INKS[TONES[agent.state]]} ${needsAttention(agent.state) ? 'font-semibold' : ''}`}
    >
      {isWorking
        ? ((isUsingTool(agent) ? describeActivity(t, agent.tool) : null) ??
          t(`status.${agent.activity}`, { tool: agent.tool || t('status.a_tool') }))
        : describeState(t, agent)}
    </span>
  )
}

function isUsingTool(agent: AgentRow): boolean {
  return agent.activity === 'running_tool' || agent.activity === 'calling_tool'
}

/** The state of an agent. An idle background agent shows the state of its schedule. */
export function describeState(t: Translate, agent: AgentRow): string {
  const quiet = agent.state === 'idle' || agent.state === 'waiting' || agent.state === 'completed'
  if (agent.background !== null && quiet) return t(`team.background.${agent.background.state}`)
  return agent.state === 'needs_input' && agent.paused !== null
    ? t(`team.paused.${agent.paused}`)
    : t(`team.state.${agent.state}`)
}

/**
 * Describe a degradation of the team view. A pending request is shown as waiting, not as a missing
 * permission.
 */
export function describeDegradation(t: Translate, degradation: Degraded, isRequested: boolean): string {
  return t(
    degradation === 'permission_blocked' && isRequested
      ? 'team.waits.approval'
      : `team.degraded.${degradation}`,
  )
}

/** Why an agent is queued. That is a limit, not a failure. */
export function describeQueueReason(
  t: Translate,
  reason: QueueReason,
  limits: { readonly active: number; readonly budget: number },
): string {
  if (reason === 'parallel_budget' && limits.budget > 0) return t('team.waits.parallel_budget', limits)
  if (reason === 'provider_budget') return t('team.waits.provider_budget')
  if (reason === 'worktree') return t('team.waits.worktree')
  return t('team.waits.slot')
}

/** The usage of a run, without values that the provider did not report. */
export function describeUsage(t: Translate, usage: Usage): string {
  const texts: string[] = []
  if (usage.toolCalls > 0) texts.push(t.count('turn.tools', usage.toolCalls))
  if (usage.inputTokens + usage.outputTokens > 0) {
    texts.push(t('team.tokens', { tokens: formatCount(usage.inputTokens + usage.outputTokens, t.locale) }))
  }
  if (usage.durationMs > 0) texts.push(formatDuration(usage.durationMs, t.locale))
  return texts.join(' · ')
}

const QUIET: ReadonlySet<AgentRow['activity']> = new Set([
  'ready',
  'completed',
  'failed',
  'interrupted',
  'lost',
])
