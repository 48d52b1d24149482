/** Made-up sessions of agents that sleep, that are elsewhere, that ask, and that plan. */
import type * as wire from '../src/system/generated/contracts'
import { Refused, type Scenario } from './fake-server'
import { cards } from './material'
import {
  actionRow,
  agentRow,
  edgeRow,
  place,
  runRow,
  SESSION,
  sessionRow,
  statusRow,
  taskRow,
  teamRow,
  textPart,
  toolPart,
  turnRow,
  upsert,
} from './rows'
import { ago } from './team-material'

const LEAD = 'lead'
const thread = { threadId: `thr_${LEAD}`, agentId: LEAD }

/** What the server says to what a person asks for here. */
const ANSWERS: NonNullable<Scenario['answers']> = {
  merge_subagent: () => ({
    sessionId: SESSION,
    agentId: 'worker-1',
    status: 'conflict',
    conflict: ['src/lexer.py', 'src/parser.py'],
    sequence: 90,
  }),
  add_agent: () =>
    new Refused(404, {
      code: 'unknown_agent',
      message: 'There is no definition wacher.',
      field: 'agent',
      hint: 'There are: lead, maker, watcher.',
    }),
  export_evidence: () => ({
    sessionId: SESSION,
    evidenceId: 'evd_0351WzXLErNl9CVRsH2hkU',
    pack: { hash: 'f'.repeat(64), size: 48_213 },
    through: 412,
    facts: 412,
    link: '9c4e'.repeat(16),
    sequence: 413,
  }),
}

function session(title: string, ops: readonly wire.Op[], blobs: Scenario['blobs'] = {}): Scenario {
  return {
    workspace: cards,
    openAtFirst: SESSION,
    sessions: { [SESSION]: [upsert('session', sessionRow({ title })), ...ops] },
    blobs,
    answers: ANSWERS,
  }
}

const status = (change: Partial<wire.StatusRow> = {}) =>
  upsert('status', statusRow({ key: thread.threadId, ...thread, agentName: LEAD, ...change }))

const turn = (id: string, order: number, change: Partial<wire.TurnRow>) =>
  upsert('turns', turnRow(id, order, { ...thread, ...change }))

const lead = (change: Partial<wire.AgentRow> = {}) =>
  upsert('agents', agentRow({ key: LEAD, agentKind: 'main', role: 'planner', state: 'idle', ...change }))

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

/** Agents that sleep in every state. */
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

const CARD = {
  name: 'Atlas Linter',
  description: 'Reads source code and tells what is wrong with it.',
  version: '2.1.0',
  provider: { organization: 'Atlas GmbH', url: 'https://atlas.example' },
  skills: [
    { id: 'lint', name: 'Lint', description: 'Finds what is wrong, file by file.' },
    { id: 'explain', name: 'Explain', description: 'Says why a rule is there.' },
  ],
}

function elsewhere(
  key: string,
  order: number,
  work: Partial<wire.RemoteWork>,
  change: Partial<wire.AgentRow> = {},
) {
  const remote = {
    url: `https://${key}.example/a2a`,
    card: { text: JSON.stringify(CARD) },
    name: CARD.name,
    version: CARD.version,
    ...work,
  }
  return upsert(
    'agents',
    agentRow({ key, order, agentKind: 'remote', role: 'reviewer', state: 'idle', remote, ...change }),
  )
}

/** Agents elsewhere: at work, asking, delivered, out of reach. */
export function remote(): Scenario {
  const at = (step: number, key?: string) => ({ ...place('trn_a', 10, step, key), ...thread })
  return session('Have the import linted', [
    upsert(
      'team',
      teamRow({
        topology: 'remote_teammate',
        lead: LEAD,
        owner: LEAD,
        teamActiveCount: 1,
        degraded: ['remote_unavailable'],
      }),
    ),
    status({ status: 'streaming', detail: 'running_tool', tool: 'send_handoff', turnId: 'trn_a' }),
    lead({ state: 'running', activity: 'running_tool', tool: 'send_handoff' }),
    elsewhere(
      'linter',
      2,
      {
        taskId: 't-81',
        taskState: 'input_required',
        message: { text: 'Which branch shall I read: main or release?' },
        toldAt: ago(95),
        artifacts: [
          {
            artifactId: 'a1',
            name: 'findings',
            description: 'What was found so far.',
            at: ago(200),
            parts: [
              {
                media: 'text/markdown',
                text: { text: 'src/lexer.py:40 reads the file twice.\nsrc/import.py:71 does so too.' },
              },
              {
                media: 'application/json',
                text: { text: '{"files":12,"findings":2,"worst":"src/lexer.py:40"}' },
              },
              { media: 'image/png', name: 'calls.png', url: 'https://linter.example/files/calls.png' },
            ],
          },
        ],
      },
      { state: 'needs_input', blockedOn: 'act_a', taskId: 'tsk_1' },
    ),
    elsewhere('translator', 3, { taskId: 't-2', taskState: 'working', toldAt: ago(400) }),
    elsewhere(
      'archive',
      4,
      { taskId: 't-9', taskState: 'working', toldAt: ago(4000) },
      { state: 'unknown', connection: 'disconnected', degraded: ['remote_unavailable'] },
    ),
    elsewhere('newcomer', 5, { name: '', version: '', card: { text: '' } }, { connection: 'idle' }),
    upsert('edges', edgeRow('path', LEAD, 'linter', { edgeKind: 'handoff' })),
    upsert(
      'tasks',
      taskRow({
        key: 'tsk_1',
        title: 'Lint the import',
        assignee: 'linter',
        status: 'running',
        entity: 'external_task',
      }),
    ),
    turn('trn_a', 10, {
      input: { text: 'Have the import linted by whoever can.' },
      state: 'waiting',
      endedAt: 0,
      startedAt: ago(120),
      toolCalls: 1,
    }),
    upsert(
      'parts',
      toolPart(at(2, 'cal_h'), 'send_handoff', {
        arguments: { text: '{"to":"linter","message":"Lint src/import.py and what it calls."}' },
        output: { text: '{"status":"queued"}' },
      }),
    ),
    upsert('parts', {
      kind: 'remote_agent_status',
      ...at(3, 'rem_1'),
      agentId: 'linter',
      remoteTaskId: 't-81',
      taskState: 'input_required',
      message: { text: 'Which branch shall I read: main or release?' },
      artifacts: ['findings'],
    }),
    upsert(
      'actions',
      actionRow({
        actionType: 'clarification',
        agentId: 'linter',
        agentName: 'linter',
        threadId: thread.threadId,
        tool: '',
        toolCallId: '',
        prompt: 'Which branch shall I read: main or release?',
        decisions: ['answer', 'reject'],
        scopes: [],
      }),
    ),
  ])
}

/** An agent that needs a credential, which is never typed here. */
export function credential(): Scenario {
  return session('Publish the notes', [
    status({ status: 'blocked', detail: 'waiting_approval', turnId: 'trn_a' }),
    turn('trn_a', 10, {
      input: { text: 'Publish the notes.' },
      state: 'waiting',
      endedAt: 0,
      startedAt: ago(60),
    }),
    upsert(
      'actions',
      actionRow({
        actionType: 'credential_request',
        agentId: LEAD,
        tool: '',
        toolCallId: '',
        prompt:
          'The publisher asks you to sign in at https://publish.example/device with the code WXYZ-1234.',
        decisions: ['approve', 'reject'],
        scopes: [],
      }),
    ),
  ])
}

/** A turn that follows a plan, and that was told of a child, a handoff and a message. */
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
