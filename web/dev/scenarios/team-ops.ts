/** Operations shared by the scenarios of teams. */
import type { Op } from '../../src/system/generated/contracts'
import {
  buildAgentRow,
  buildEdgeRow,
  buildHandoffRow,
  buildMessageRow,
  buildNotificationRow,
  buildReviewRow,
  buildTaskRow,
  runRow,
  upsert,
} from '../rows'
import { getNow } from './session-ops'

export const LEAD = 'coordinator'
export const getTimeAgo = (seconds: number) => getNow() - seconds * 1e6

export function buildWorkers(): readonly Op[] {
  const child = { parentAgentId: LEAD, parentThreadId: `thr_${LEAD}`, parentRunId: 'run_trn_l' }
  const usage = { inputTokens: 6200, outputTokens: 410, toolCalls: 4, durationMs: 61_000 }
  return [
    buildAgentRow({
      key: 'worker-1',
      ...child,
      order: 2,
      state: 'needs_input',
      blockedOn: 'act_a',
      taskId: 'tsk_1',
      activity: 'waiting_approval',
      tool: 'Bash',
      usage,
      currentRun: 'run_trn_w1',
      objective: { text: 'Read the lexer once per file.' },
      spawnReason: 'the lexer is read twice',
      workGlobs: ['src/lexer.py', 'src/parser.py'],
    }),
    buildAgentRow({
      key: 'worker-2',
      ...child,
      order: 3,
      state: 'running',
      taskId: 'tsk_2',
      activity: 'running_tool',
      tool: 'Edit',
      usage,
      isolation: 'worktree',
      branch: 'callboard/worker-2',
      queuedTurns: 2,
    }),
    buildAgentRow({
      key: 'worker-3',
      ...child,
      order: 4,
      state: 'waiting',
      taskId: 'tsk_3',
      queueReason: 'parallel_budget',
      queuePosition: 1,
      connection: 'idle',
      objective: { text: 'Measure before and after.' },
    }),
    buildAgentRow({
      key: 'worker-4',
      ...child,
      order: 5,
      state: 'failed',
      taskId: 'tsk_4',
      result: { text: 'The provider refused three times.' },
      usage,
    }),
    buildAgentRow({
      key: 'researcher-1',
      ...child,
      order: 6,
      state: 'completed',
      role: 'researcher',
      taskId: 'tsk_5',
      result: { text: 'The import reads every file twice: src/import.py:40.' },
      usage,
    }),
    buildAgentRow({
      key: 'database',
      agentKind: 'main',
      order: 7,
      role: 'custom',
      state: 'idle',
      definition: 'database',
    }),
    buildAgentRow({
      key: 'reviewer',
      agentKind: 'main',
      order: 8,
      role: 'reviewer',
      state: 'plan_ready',
      definition: 'reviewer',
      activity: 'waiting_approval',
    }),
    buildAgentRow({
      key: 'remote-linter',
      agentKind: 'main',
      order: 9,
      role: 'custom',
      state: 'unknown',
      connection: 'disconnected',
      degraded: ['remote_unavailable'],
    }),
  ].map((row) => upsert('agents', row))
}

export function buildLines(): readonly Op[] {
  return [
    ...['worker-1', 'worker-2', 'worker-3', 'worker-4', 'researcher-1'].map((name) =>
      buildEdgeRow('child', LEAD, name),
    ),
    buildEdgeRow('wait', LEAD, 'worker-1'),
    buildEdgeRow('wait', LEAD, 'worker-2'),
    buildEdgeRow('path', LEAD, 'database', { direction: 'both', edgeKind: 'handoff' }),
    buildEdgeRow('path', LEAD, 'reviewer', { edgeKind: 'report' }),
    buildEdgeRow('path', 'reviewer', 'remote-linter', { edgeKind: 'report' }),
    buildEdgeRow('handoff', LEAD, 'database', { ownership: true }),
  ].map((row) => upsert('edges', row))
}

export function buildBoard(): readonly Op[] {
  return [
    buildTaskRow({
      key: 'tsk_0',
      title: 'Make the import ten times faster',
      status: 'running',
      assignee: LEAD,
      order: 1,
    }),
    buildTaskRow({
      key: 'tsk_1',
      title: 'Read the lexer once per file',
      status: 'running',
      assignee: 'worker-1',
      parentTask: 'tsk_0',
      priority: 'high',
      progress: 'Found three callers',
      order: 2,
      attempts: [{ runId: 'run_trn_w1', status: 'running' }],
      comments: [
        { at: getTimeAgo(50), by: LEAD, text: 'Mind the highlighter.' },
        { at: getTimeAgo(20), by: '', text: 'No new dependency, please.' },
      ],
    }),
    buildTaskRow({
      key: 'tsk_2',
      title: 'Batch the inserts into one statement a table',
      status: 'running',
      assignee: 'worker-2',
      parentTask: 'tsk_0',
      order: 3,
    }),
    buildTaskRow({
      key: 'tsk_3',
      title: 'Measure before and after',
      status: 'blocked',
      paused: true,
      phase: 'warming up',
      counters: { runs: 3, files: 12 },
      dependsOn: ['tsk_1', 'tsk_2'],
      parentTask: 'tsk_0',
      order: 4,
    }),
    buildTaskRow({
      key: 'tsk_4',
      title: 'Move the import into a worker process',
      status: 'blocked',
      blocker: 'The provider refused three times.',
      assignee: 'worker-4',
      order: 5,
      attempts: [
        { runId: 'r1', status: 'failed' },
        { runId: 'r2', status: 'failed' },
      ],
    }),
    buildTaskRow({
      key: 'tsk_5',
      title: 'Where does the time go?',
      status: 'done',
      assignee: 'researcher-1',
      summary: 'The import reads every file twice.',
      order: 6,
      refs: [{ type: 'file', ref: 'src/import.py:40' }],
    }),
    buildTaskRow({
      key: 'tsk_6',
      title: 'Review of worker-1',
      status: 'reviewing',
      assignee: 'reviewer',
      order: 7,
    }),
    buildTaskRow({
      key: 'tsk_7',
      title: 'Write it down in docs/import.md',
      status: 'claimed',
      assignee: 'database',
      priority: 'low',
      order: 8,
    }),
  ].map((row) => upsert('tasks', row))
}

export function buildExchange(): readonly Op[] {
  return [
    upsert(
      'handoffs',
      buildHandoffRow({
        key: 'hnd_1',
        order: 1,
        state: 'returned',
        ownership: true,
        reason: 'a schema question',
        resumeTarget: LEAD,
        contextBoundary: 412,
        accepted: getTimeAgo(300),
        requested: getTimeAgo(330),
        ended: getTimeAgo(200),
        payload: {
          message: 'Which index does the import miss?',
          artifacts: [{ type: 'file', ref: 'src/db.py' }],
        },
      }),
    ),
    upsert(
      'handoffs',
      buildHandoffRow({
        key: 'hnd_2',
        order: 2,
        ownership: true,
        confirm: true,
        requested: getTimeAgo(40),
        reason: 'the rest is schema work',
        resumeTarget: LEAD,
        contextBoundary: 980,
        reply: 'awaited',
        replyBy: getNow() + 600e6,
      }),
    ),
    upsert(
      'handoffs',
      buildHandoffRow({
        key: 'hnd_3',
        order: 3,
        state: 'rejected',
        target: 'reviewer',
        requested: getTimeAgo(30),
        answerReason: 'there is no diff yet',
      }),
    ),
    upsert(
      'notifications',
      buildNotificationRow({
        key: 'ntf_1',
        order: 1,
        agentId: 'researcher-1',
        summary: 'The import reads every file twice.',
        result: { text: 'The import reads every file twice: src/import.py:40 and src/import.py:71.' },
        at: getTimeAgo(90),
        consumed: true,
        usage: { inputTokens: 6200, outputTokens: 410, toolCalls: 4, durationMs: 61_000 },
      }),
    ),
    upsert(
      'notifications',
      buildNotificationRow({
        key: 'ntf_2',
        order: 2,
        agentId: 'worker-4',
        status: 'failed',
        summary: 'The provider refused three times.',
        at: getTimeAgo(30),
      }),
    ),
    upsert(
      'reviews',
      buildReviewRow({
        key: 'rev_1',
        order: 1,
        state: 'changes_requested',
        summary: 'Good, but two things are missing.',
        judged: getTimeAgo(25),
        refs: [{ type: 'diff', ref: 'src/lexer.py' }],
        fixes: [
          { text: 'An empty file must give an empty list', ref: 'src/lexer.py:18' },
          { text: 'Add a test for it', assignee: 'worker-2' },
        ],
      }),
    ),
    upsert(
      'reviews',
      buildReviewRow({
        key: 'rev_2',
        order: 2,
        state: 'passed',
        target: 'researcher-1',
        summary: 'The measurement holds.',
        judged: getTimeAgo(60),
        refs: [{ type: 'evidence', ref: 'evd_7' }],
      }),
    ),
    upsert('messages', buildMessageRow({ key: 'msg_1', order: 1, at: getTimeAgo(350) })),
    upsert(
      'messages',
      buildMessageRow({
        key: 'msg_2',
        order: 2,
        source: 'database',
        text: { text: 'Only `readings` and `stations`.' },
        at: getTimeAgo(340),
      }),
    ),
    upsert(
      'runs',
      runRow({
        key: 'run_trn_l',
        order: 1,
        turnId: 'trn_l',
        status: 'running',
        started: getTimeAgo(140),
        ended: 0,
        usage: { toolCalls: 4 },
      }),
    ),
    upsert(
      'runs',
      runRow({
        key: 'run_r',
        order: 2,
        agentId: 'researcher-1',
        agentKind: 'subagent',
        threadId: 'thr_researcher-1',
        turnId: 'trn_r',
        parentRunId: 'run_trn_l',
        started: getTimeAgo(135),
        ended: getTimeAgo(90),
        usage: { toolCalls: 4 },
      }),
    ),
    upsert(
      'runs',
      runRow({
        key: 'run_trn_w1',
        order: 3,
        agentId: 'worker-1',
        agentKind: 'subagent',
        threadId: 'thr_worker-1',
        turnId: 'trn_w1',
        parentRunId: 'run_trn_l',
        status: 'running',
        started: getTimeAgo(80),
        ended: 0,
        usage: { toolCalls: 2 },
      }),
    ),
    upsert(
      'runs',
      runRow({
        key: 'run_4',
        order: 4,
        agentId: 'worker-4',
        agentKind: 'subagent',
        threadId: 'thr_worker-4',
        turnId: 'trn_4',
        parentRunId: 'run_trn_l',
        status: 'failed',
        detail: 'provider_unavailable',
        started: getTimeAgo(70),
        ended: getTimeAgo(30),
      }),
    ),
  ]
}
