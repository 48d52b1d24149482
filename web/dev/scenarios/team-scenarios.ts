/** Scenarios of teams. */
import type { Op } from '../../src/system/generated/contracts'
import type { Scenario } from '../fake-server'
import {
  buildActionRow,
  buildAgentRow,
  buildEdgeRow,
  buildPosition,
  buildSessionRow,
  buildStatusRow,
  buildTaskRow,
  buildTeamRow,
  buildTextPart,
  buildToolPart,
  buildTurnRow,
  SESSION,
  upsert,
} from '../rows'
import { cards } from './session-ops'
import { buildBoard, buildExchange, buildLines, buildWorkers, getTimeAgo, LEAD } from './team-ops'

function buildScenario(ops: readonly Op[]): Scenario {
  return {
    workspace: cards,
    openAtFirst: SESSION,
    sessions: {
      [SESSION]: [upsert('session', buildSessionRow({ title: 'Make the import ten times faster' })), ...ops],
    },
  }
}

const buildLeadStatus = (change: Parameters<typeof buildStatusRow>[0] = {}) =>
  upsert(
    'status',
    buildStatusRow({
      key: `thr_${LEAD}`,
      threadId: `thr_${LEAD}`,
      agentId: LEAD,
      agentName: LEAD,
      ...change,
    }),
  )

function buildTurn(agent: string, id: string, order: number, change: Parameters<typeof buildTurnRow>[2]): Op {
  const run = `run_${id}`
  return upsert(
    'turns',
    buildTurnRow(id, order, { agentId: agent, threadId: `thr_${agent}`, runId: run, ...change }),
  )
}

/** A coordinator with workers of every state, handoffs, reviews, messages and runs. */
export function buildTeamScenario(): Scenario {
  const atStep = (step: number, key?: string) => ({
    ...buildPosition('trn_l', 100, step, key),
    threadId: `thr_${LEAD}`,
  })
  const atWorkerStep = (step: number, key?: string) => ({
    ...buildPosition('trn_w1', 130, step, key),
    threadId: 'thr_worker-1',
    at: getTimeAgo(80 - step * 4),
  })
  return buildScenario([
    upsert(
      'team',
      buildTeamRow({
        teamActiveCount: 4,
        teamQueuedCount: 1,
        teamParallelBudget: 4,
        queueReason: 'parallel_budget',
      }),
    ),
    buildLeadStatus({
      status: 'streaming',
      detail: 'running_tool',
      tool: 'wait_subagents',
      turnId: 'trn_l',
      iteration: 3,
      maxIters: 24,
    }),
    upsert(
      'agents',
      buildAgentRow({
        key: LEAD,
        agentKind: 'main',
        role: 'planner',
        state: 'waiting',
        description: 'Splits an objective into tasks and puts the results together.',
        model: 'gpt-6-mini',
        provider: 'openai',
        activity: 'running_tool',
        tool: 'wait_subagents',
        usage: { inputTokens: 18000, outputTokens: 900, toolCalls: 6 },
        inbox: 2,
      }),
    ),
    ...buildWorkers(),
    ...buildLines(),
    ...buildBoard(),
    ...buildExchange(),
    buildTurn(LEAD, 'trn_l', 100, {
      state: 'running',
      mode: 'auto',
      endedAt: 0,
      startedAt: getTimeAgo(140),
      input: { text: 'Make the import ten times faster, and keep every test green.' },
      toolCalls: 4,
    }),
    upsert(
      'parts',
      buildTextPart(atStep(1), 'Two parts can go in parallel: the lexer and the database.', {
        commentary: true,
      }),
    ),
    upsert(
      'parts',
      buildToolPart(atStep(2, 'cal_s1'), 'spawn_subagent', { summary: 'worker: read the lexer once' }),
    ),
    upsert(
      'parts',
      buildToolPart(atStep(3, 'cal_s2'), 'spawn_subagent', { summary: 'worker: batch the inserts' }),
    ),
    upsert(
      'parts',
      buildToolPart(atStep(4, 'cal_w'), 'wait_subagents', {
        state: 'running',
        durationMs: 0,
        summary: 'all',
      }),
    ),
    buildTurn('worker-1', 'trn_w1', 130, {
      state: 'waiting',
      source: 'agent',
      endedAt: 0,
      startedAt: getTimeAgo(80),
      input: {
        text: 'Read the lexer once per file. Change src/lexer.py and src/parser.py only. Report what you measured.',
      },
      toolCalls: 2,
    }),
    upsert('parts', buildToolPart(atWorkerStep(1, 'cal_1'), 'Read', { summary: 'src/lexer.py' })),
    upsert('parts', buildToolPart(atWorkerStep(2, 'cal_2'), 'Grep', { summary: 'lexer\\.run' })),
    upsert(
      'parts',
      buildTextPart(atWorkerStep(3), 'Three callers walk the tokens twice.', { commentary: true }),
    ),
    upsert(
      'parts',
      buildToolPart(atWorkerStep(4, 'cal_a'), 'Bash', {
        state: 'input-available',
        summary: 'python bench/lexer.py',
        durationMs: 0,
        startedAt: 0,
      }),
    ),
    upsert(
      'actions',
      buildActionRow({
        actionType: 'delegated_permission',
        agentId: 'worker-1',
        threadId: 'thr_worker-1',
        turnId: 'trn_w1',
        risk: 'medium',
        policy: 'ask',
        arguments: { text: '{"command":"python bench/lexer.py --rounds 20"}' },
        preview: { text: 'python bench/lexer.py --rounds 20' },
      }),
    ),
  ])
}

/** Forty children of one parent, with long names. */
export function buildCrowdScenario(): Scenario {
  const states = [
    'running',
    'running',
    'waiting',
    'completed',
    'completed',
    'idle',
    'failed',
    'completed',
  ] as const
  const children = Array.from({ length: 40 }, (_, index) => {
    const key = index % 7 === 0 ? `migration-specialist-for-the-oldest-tables-${index}` : `worker-${index}`
    const state = states[index % states.length] ?? 'running'
    const activity = state === 'running' ? ('running_tool' as const) : ('ready' as const)
    return buildAgentRow({
      key,
      order: index + 2,
      state,
      activity,
      tool: 'mcp__warehouse__migrate_table',
      parentAgentId: LEAD,
    })
  })
  return buildScenario([
    upsert(
      'team',
      buildTeamRow({
        topology: 'parallel_workers',
        teamActiveCount: 16,
        teamParallelBudget: 16,
        teamQueuedCount: 5,
        queueReason: 'provider_budget',
      }),
    ),
    buildLeadStatus({ status: 'streaming', detail: 'answering' }),
    upsert('agents', buildAgentRow({ key: LEAD, agentKind: 'main', role: 'planner', activity: 'answering' })),
    ...children.map((row) => upsert('agents', row)),
    ...children.map((row) => upsert('edges', buildEdgeRow('child', LEAD, row.key))),
    ...children.map((row, index) =>
      upsert(
        'tasks',
        buildTaskRow({
          key: `tsk_${index}`,
          order: index,
          title: `Migrate table ${index} and everything that hangs on it`,
          assignee: row.key,
          status: row.state === 'completed' ? 'done' : 'running',
        }),
      ),
    ),
    buildTurn(LEAD, 'trn_l', 100, {
      input: { text: 'Migrate the forty oldest tables.' },
      mode: 'auto',
      state: 'running',
      endedAt: 0,
    }),
  ])
}

/** A new team of which only the lead is known. */
export function buildFormingScenario(): Scenario {
  return buildScenario([
    upsert(
      'team',
      buildTeamRow({ teamPhase: 'forming', teamActiveCount: 0, degraded: ['lineage_unavailable'] }),
    ),
    buildLeadStatus(),
    upsert('agents', buildAgentRow({ key: LEAD, agentKind: 'main', role: 'planner', state: 'idle' })),
    upsert(
      'agents',
      buildAgentRow({
        key: 'worker-1',
        order: 2,
        state: 'unknown',
        parentAgentId: 'gone',
        degraded: ['lineage_unavailable'],
      }),
    ),
  ])
}
