/** Operations shared by the scenarios of agents. */
import type * as wire from '../../src/system/generated/contracts'
import { RefusedAnswer, type Scenario } from '../fake-server'
import { buildAgentRow, buildSessionRow, buildStatusRow, buildTurnRow, SESSION, upsert } from '../rows'
import { cards } from './session-ops'

export const LEAD = 'lead'
export const thread = { threadId: `thr_${LEAD}`, agentId: LEAD }

/** Answers of the fake server. */
const ANSWERS: NonNullable<Scenario['answers']> = {
  merge_subagent: () => ({
    sessionId: SESSION,
    agentId: 'worker-1',
    status: 'conflict',
    conflict: ['src/lexer.py', 'src/parser.py'],
    sequence: 90,
  }),
  add_agent: () =>
    new RefusedAnswer(404, {
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

export function buildSession(
  title: string,
  ops: readonly wire.Op[],
  blobs: Scenario['blobs'] = {},
): Scenario {
  return {
    workspace: cards,
    openAtFirst: SESSION,
    sessions: { [SESSION]: [upsert('session', buildSessionRow({ title })), ...ops] },
    blobs,
    answers: ANSWERS,
  }
}

export const buildStatus = (change: Partial<wire.StatusRow> = {}) =>
  upsert('status', buildStatusRow({ key: thread.threadId, ...thread, agentName: LEAD, ...change }))

export const buildTurn = (id: string, order: number, change: Partial<wire.TurnRow>) =>
  upsert('turns', buildTurnRow(id, order, { ...thread, ...change }))

export const buildLead = (change: Partial<wire.AgentRow> = {}) =>
  upsert('agents', buildAgentRow({ key: LEAD, agentKind: 'main', role: 'planner', state: 'idle', ...change }))
