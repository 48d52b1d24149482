/** Scenarios of remote agents and their questions. */
import type * as wire from '../../src/system/generated/contracts'
import type { Scenario } from '../fake-server'
import {
  buildActionRow,
  buildAgentRow,
  buildEdgeRow,
  buildPosition,
  buildTaskRow,
  buildTeamRow,
  buildToolPart,
  upsert,
} from '../rows'
import { buildLead, buildSession, buildStatus, buildTurn, LEAD, thread } from './agent-ops'
import { getTimeAgo } from './team-ops'

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

function buildRemoteAgent(
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
    buildAgentRow({ key, order, agentKind: 'remote', role: 'reviewer', state: 'idle', remote, ...change }),
  )
}

/** Remote agents: working, asking, delivered, unreachable. */
export function buildRemoteScenario(): Scenario {
  const atStep = (step: number, key?: string) => ({ ...buildPosition('trn_a', 10, step, key), ...thread })
  return buildSession('Have the import linted', [
    upsert(
      'team',
      buildTeamRow({
        topology: 'remote_teammate',
        lead: LEAD,
        owner: LEAD,
        teamActiveCount: 1,
        degraded: ['remote_unavailable'],
      }),
    ),
    buildStatus({ status: 'streaming', detail: 'running_tool', tool: 'send_handoff', turnId: 'trn_a' }),
    buildLead({ state: 'running', activity: 'running_tool', tool: 'send_handoff' }),
    buildRemoteAgent(
      'linter',
      2,
      {
        taskId: 't-81',
        taskState: 'input_required',
        message: { text: 'Which branch shall I read: main or release?' },
        toldAt: getTimeAgo(95),
        artifacts: [
          {
            artifactId: 'a1',
            name: 'findings',
            description: 'What was found so far.',
            at: getTimeAgo(200),
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
    buildRemoteAgent('translator', 3, { taskId: 't-2', taskState: 'working', toldAt: getTimeAgo(400) }),
    buildRemoteAgent(
      'archive',
      4,
      { taskId: 't-9', taskState: 'working', toldAt: getTimeAgo(4000) },
      { state: 'unknown', connection: 'disconnected', degraded: ['remote_unavailable'] },
    ),
    buildRemoteAgent('newcomer', 5, { name: '', version: '', card: { text: '' } }, { connection: 'idle' }),
    upsert('edges', buildEdgeRow('path', LEAD, 'linter', { edgeKind: 'handoff' })),
    upsert(
      'tasks',
      buildTaskRow({
        key: 'tsk_1',
        title: 'Lint the import',
        assignee: 'linter',
        status: 'running',
        entity: 'external_task',
      }),
    ),
    buildTurn('trn_a', 10, {
      input: { text: 'Have the import linted by whoever can.' },
      state: 'waiting',
      endedAt: 0,
      startedAt: getTimeAgo(120),
      toolCalls: 1,
    }),
    upsert(
      'parts',
      buildToolPart(atStep(2, 'cal_h'), 'send_handoff', {
        arguments: { text: '{"to":"linter","message":"Lint src/import.py and what it calls."}' },
        output: { text: '{"status":"queued"}' },
      }),
    ),
    upsert('parts', {
      kind: 'remote_agent_status',
      ...atStep(3, 'rem_1'),
      agentId: 'linter',
      remoteTaskId: 't-81',
      taskState: 'input_required',
      message: { text: 'Which branch shall I read: main or release?' },
      artifacts: ['findings'],
    }),
    upsert(
      'actions',
      buildActionRow({
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
export function buildCredentialScenario(): Scenario {
  return buildSession('Publish the notes', [
    buildStatus({ status: 'blocked', detail: 'waiting_approval', turnId: 'trn_a' }),
    buildTurn('trn_a', 10, {
      input: { text: 'Publish the notes.' },
      state: 'waiting',
      endedAt: 0,
      startedAt: getTimeAgo(60),
    }),
    upsert(
      'actions',
      buildActionRow({
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
