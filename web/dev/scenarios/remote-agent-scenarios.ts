/** Scenarios of remote agents and their questions. */
import type * as wire from '../../src/system/generated/contracts'
import type { Scenario } from '../fake-server'
import { actionRow, agentRow, edgeRow, place, taskRow, teamRow, toolPart, upsert } from '../rows'
import { LEAD, lead, session, status, thread, turn } from './agent-ops'
import { ago } from './team-ops'

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

/** Remote agents: working, asking, delivered, unreachable. */
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

/** An agent that needs a credential, which is not typed on the page. */
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
