/** Scenarios of background agents and plans. */
import type * as wire from '../../src/system/generated/contracts'
import type { Scenario } from '../fake-server'
import { agentRow, place, runRow, taskRow, teamRow, textPart, toolPart, upsert } from '../rows'
import { LEAD, lead, session, status, thread, turn } from './agent-ops'
import { ago } from './team-ops'

function sleeper(
  key: string,
  order: number,
  work: Partial<wire.BackgroundWork>,
  change: Partial<wire.AgentRow> = {},
) {
  const background = { state: 'sleeping', taskId: `tsk_${key}`, ...work } as const
  return upsert(
    'agents',
    agentRow({
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
export function background(): Scenario {
  return session(
    'Watch the nightly build',
    [
      upsert(
        'team',
        teamRow({ topology: 'background_teammate', lead: LEAD, owner: LEAD, teamActiveCount: 1 }),
      ),
      status(),
      lead({ policy: ['Patch', 'Delegate', 'Finalize'] }),
      sleeper('watcher', 2, {
        schedule: 'every 1800 s',
        wakeAt: ago(-12 * 60),
        wakeOn: ['turn.failed'],
        wakeReason: 'schedule',
        wokeAt: ago(18 * 60),
        lastRun: 'run_w1',
        lastRunStatus: 'completed',
      }),
      sleeper('reporter', 3, {
        state: 'scheduled',
        schedule: '0 9 * * 1-5',
        wakeAt: ago(-40 * 3600),
      }),
      sleeper('mailer', 4, {
        state: 'paused',
        schedule: 'every 3600 s',
        wakeReason: 'person',
        wokeAt: ago(7200),
      }),
      sleeper(
        'indexer',
        5,
        { state: 'running', schedule: 'every 600 s', wakeReason: 'fact', wokeAt: ago(20), lastRun: 'run_i1' },
        { state: 'running', currentRun: 'run_i2', activity: 'running_tool', tool: 'Bash' },
      ),
      sleeper('auditor', 6, {
        state: 'failed',
        schedule: 'every 86400 s',
        lastRun: 'run_a1',
        lastRunStatus: 'failed',
      }),
      sleeper('archivist', 7, { state: 'completed', lastRun: 'run_w1', lastRunStatus: 'completed' }),
      sleeper('stranger', 8, { state: 'unknown' }, { state: 'unknown' }),
      ...['watcher', 'reporter'].map((key, index) =>
        upsert(
          'tasks',
          taskRow({
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
          started: ago(1080),
          ended: ago(1060),
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
          started: ago(20),
          ended: 0,
        }),
      ),
      turn('trn_a', 10, {
        input: { text: 'Have the nightly build watched, and tell me when it breaks.' },
        finalParts: ['p1'],
      }),
      upsert(
        'parts',
        textPart(
          { ...place('trn_a', 10, 2, 'p1'), ...thread },
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
export function plan(): Scenario {
  const at = (step: number, key?: string) => ({ ...place('trn_a', 10, step, key), ...thread })
  return session('Make the import faster', [
    upsert('team', teamRow({ lead: LEAD, owner: LEAD })),
    status({ status: 'streaming', detail: 'running_tool', tool: 'wait_subagents', turnId: 'trn_a' }),
    lead({ state: 'running', activity: 'running_tool', tool: 'wait_subagents' }),
    upsert(
      'agents',
      agentRow({
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
      agentRow({
        key: 'worker-2',
        order: 3,
        parentAgentId: LEAD,
        state: 'waiting',
        blockedOn: 'act_x',
        degraded: ['permission_blocked'],
      }),
    ),
    turn('trn_a', 10, {
      input: { text: 'Make the import ten times faster.' },
      state: 'running',
      endedAt: 0,
      startedAt: ago(90),
      toolCalls: 3,
    }),
    upsert('parts', {
      kind: 'worker_notification',
      ...at(1, 'n1'),
      agentId: 'worker-1',
      taskId: 'tsk_1',
      status: 'completed',
      summary: 'The lexer is read once: 4.1 s became 0.4 s.',
    }),
    upsert('parts', {
      kind: 'agent_handoff',
      ...at(2, 'n2'),
      handoffId: 'hnd_1',
      source: 'worker-1',
      target: LEAD,
      message: 'The schema is yours: I did not touch it.',
      news: 'returned',
    }),
    upsert('parts', {
      kind: 'runtime_status',
      ...at(3, 'n3'),
      code: 'agent_message',
      agentId: 'worker-2',
      message: 'Only `readings` and `stations`.',
    }),
    upsert('parts', {
      kind: 'plan',
      ...at(4, 'pl'),
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
      toolPart(at(5, 'c1'), 'spawn_subagent', {
        arguments: { text: '{"agent":"worker","title":"Batch the inserts"}' },
        output: { text: '{"agentId":"worker-2"}' },
      }),
    ),
    upsert(
      'parts',
      toolPart(at(6, 'c2'), 'create_task', {
        arguments: { text: '{"title":"Measure before and after","assignee":"worker-2"}' },
        output: { text: '{}' },
      }),
    ),
    upsert(
      'parts',
      toolPart(at(7, 'c3'), 'wait_subagents', {
        state: 'running',
        durationMs: 0,
        summary: 'wait_subagents all children',
      }),
    ),
    upsert(
      'tasks',
      taskRow({ key: 'tsk_1', title: 'Read the lexer once', status: 'done', assignee: 'worker-1' }),
    ),
  ])
}
