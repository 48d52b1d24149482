/** Scenarios of background agents and plans. */
import type * as wire from '../../src/system/generated/contracts'
import type { Scenario } from '../fake-server'
import {
  buildAgentRow,
  buildPosition,
  buildTaskRow,
  buildTeamRow,
  buildTextPart,
  buildToolPart,
  runRow,
  upsert,
} from '../rows'
import { buildLead, buildSession, buildStatus, buildTurn, LEAD, thread } from './agent-ops'
import { getTimeAgo } from './team-ops'

function buildSleeper(
  key: string,
  order: number,
  work: Partial<wire.BackgroundWork>,
  change: Partial<wire.AgentRow> = {},
) {
  const background = { state: 'sleeping', taskId: `tsk_${key}`, ...work } as const
  return upsert(
    'agents',
    buildAgentRow({
      key,
      order,
      agentKind: 'background',
      role: 'researcher',
      state: 'idle',
      background,
      ...change,
    }),
  )
}

/** Background agents in every state. */
export function buildBackgroundScenario(): Scenario {
  return buildSession(
    'Watch the nightly build',
    [
      upsert(
        'team',
        buildTeamRow({ topology: 'background_teammate', lead: LEAD, owner: LEAD, teamActiveCount: 1 }),
      ),
      buildStatus(),
      buildLead({ policy: ['Patch', 'Delegate', 'Finalize'] }),
      buildSleeper('watcher', 2, {
        schedule: 'every 1800 s',
        wakeAt: getTimeAgo(-12 * 60),
        wakeOn: ['turn.failed'],
        wakeReason: 'schedule',
        wokeAt: getTimeAgo(18 * 60),
        lastRun: 'run_w1',
        lastRunStatus: 'completed',
      }),
      buildSleeper('reporter', 3, {
        state: 'scheduled',
        schedule: '0 9 * * 1-5',
        wakeAt: getTimeAgo(-40 * 3600),
      }),
      buildSleeper('mailer', 4, {
        state: 'paused',
        schedule: 'every 3600 s',
        wakeReason: 'person',
        wokeAt: getTimeAgo(7200),
      }),
      buildSleeper(
        'indexer',
        5,
        {
          state: 'running',
          schedule: 'every 600 s',
          wakeReason: 'fact',
          wokeAt: getTimeAgo(20),
          lastRun: 'run_i1',
        },
        { state: 'running', currentRun: 'run_i2', activity: 'running_tool', tool: 'Bash' },
      ),
      buildSleeper('auditor', 6, {
        state: 'failed',
        schedule: 'every 86400 s',
        lastRun: 'run_a1',
        lastRunStatus: 'failed',
      }),
      buildSleeper('archivist', 7, { state: 'completed', lastRun: 'run_w1', lastRunStatus: 'completed' }),
      buildSleeper('stranger', 8, { state: 'unknown' }, { state: 'unknown' }),
      ...['watcher', 'reporter'].map((key, index) =>
        upsert(
          'tasks',
          buildTaskRow({
            key: `tsk_${key}`,
            title: `${key}: keep watch`,
            assignee: key,
            order: index + 1,
            entity: 'automation_job',
          }),
        ),
      ),
      upsert(
        'runs',
        runRow({
          key: 'run_w1',
          agentId: 'watcher',
          agentKind: 'background',
          started: getTimeAgo(1080),
          ended: getTimeAgo(1060),
          prompts: [
            { layer: 'system', hash: 'a3f1c0de9b'.padEnd(64, '0'), size: 1840 },
            { layer: 'role', hash: 'b7e2d4aa10'.padEnd(64, '1'), size: 620 },
          ],
        }),
      ),
      upsert(
        'runs',
        runRow({
          key: 'run_i2',
          order: 2,
          agentId: 'indexer',
          agentKind: 'background',
          status: 'running',
          started: getTimeAgo(20),
          ended: 0,
        }),
      ),
      buildTurn('trn_a', 10, {
        input: { text: 'Have the nightly build watched, and tell me when it breaks.' },
        finalParts: ['p1'],
      }),
      upsert(
        'parts',
        buildTextPart(
          { ...buildPosition('trn_a', 10, 2, 'p1'), ...thread },
          'The watcher looks every half hour and wakes at once when a turn fails.',
        ),
      ),
    ],
    {
      ['a3f1c0de9b'.padEnd(64, '0')]: 'You work in a folder.',
      ['b7e2d4aa10'.padEnd(64, '1')]: 'You watch the build.',
    },
  )
}

/** A turn with a plan that received a notification, a handoff and a message. */
export function buildPlanScenario(): Scenario {
  const atStep = (step: number, key?: string) => ({ ...buildPosition('trn_a', 10, step, key), ...thread })
  return buildSession('Make the import faster', [
    upsert('team', buildTeamRow({ lead: LEAD, owner: LEAD })),
    buildStatus({ status: 'streaming', detail: 'running_tool', tool: 'wait_subagents', turnId: 'trn_a' }),
    buildLead({ state: 'running', activity: 'running_tool', tool: 'wait_subagents' }),
    upsert(
      'agents',
      buildAgentRow({
        key: 'worker-1',
        order: 2,
        parentAgentId: LEAD,
        isolation: 'worktree',
        branch: 'callboard/worker-1',
        state: 'completed',
        result: { text: 'The lexer is read once.' },
      }),
    ),
    upsert(
      'agents',
      buildAgentRow({
        key: 'worker-2',
        order: 3,
        parentAgentId: LEAD,
        state: 'waiting',
        blockedOn: 'act_x',
        degraded: ['permission_blocked'],
      }),
    ),
    buildTurn('trn_a', 10, {
      input: { text: 'Make the import ten times faster.' },
      state: 'running',
      endedAt: 0,
      startedAt: getTimeAgo(90),
      toolCalls: 3,
    }),
    upsert('parts', {
      kind: 'worker_notification',
      ...atStep(1, 'n1'),
      agentId: 'worker-1',
      taskId: 'tsk_1',
      status: 'completed',
      summary: 'The lexer is read once: 4.1 s became 0.4 s.',
    }),
    upsert('parts', {
      kind: 'agent_handoff',
      ...atStep(2, 'n2'),
      handoffId: 'hnd_1',
      source: 'worker-1',
      target: LEAD,
      message: 'The schema is yours: I did not touch it.',
      news: 'returned',
    }),
    upsert('parts', {
      kind: 'runtime_status',
      ...atStep(3, 'n3'),
      code: 'agent_message',
      agentId: 'worker-2',
      message: 'Only `readings` and `stations`.',
    }),
    upsert('parts', {
      kind: 'plan',
      ...atStep(4, 'pl'),
      state: 'streaming',
      steps: [
        { content: 'Find where the time goes', status: 'completed' },
        { content: 'Read the lexer once per file', status: 'completed' },
        { content: 'Batch the inserts into one statement a table', status: 'in_progress' },
        { content: 'Measure before and after', status: 'pending' },
      ],
    }),
    upsert(
      'parts',
      buildToolPart(atStep(5, 'c1'), 'spawn_subagent', {
        arguments: { text: '{"agent":"worker","title":"Batch the inserts"}' },
        output: { text: '{"agentId":"worker-2"}' },
      }),
    ),
    upsert(
      'parts',
      buildToolPart(atStep(6, 'c2'), 'create_task', {
        arguments: { text: '{"title":"Measure before and after","assignee":"worker-2"}' },
        output: { text: '{}' },
      }),
    ),
    upsert(
      'parts',
      buildToolPart(atStep(7, 'c3'), 'wait_subagents', {
        state: 'running',
        durationMs: 0,
        summary: 'wait_subagents all children',
      }),
    ),
    upsert(
      'tasks',
      buildTaskRow({ key: 'tsk_1', title: 'Read the lexer once', status: 'done', assignee: 'worker-1' }),
    ),
  ])
}
