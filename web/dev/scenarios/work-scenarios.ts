/** Scenarios of artifacts, context and tools. */
import type { ArtifactRow, ContextRow, Op, VersionEntry } from '../../src/system/generated/contracts'
import type { Scenario } from '../fake-server'
import {
  buildActionRow,
  buildPosition,
  buildSessionRow,
  buildStatusRow,
  buildTextPart,
  buildToolPart,
  buildTurnRow,
  SESSION,
  THREAD,
  upsert,
} from '../rows'
import { buildBase, buildDoneTurn, buildRunningTurn, cards, DIFF, getNow } from './session-ops'

const NOTES = `# Why the parser failed

\`Parser.parse\` handed a *generator* to \`build\`, which walks its tokens twice.

- make a list first
- an empty input gives an empty tree

| file | lines |
|---|---:|
| \`src/parser.py\` | +4 −2 |
`
const CODE = `class Parser:
    def parse(self, text: str) -> Tree:
        tokens = list(self.lexer.run(text))
        if not tokens:
            return Tree.empty()
        return self.build(tokens)
`
const MINE = `${NOTES}\nMeasured: 3.1 ms before, 2.9 ms after.\n`

export const WORK_BLOBS = { notes1: '# Notes\n', notes2: NOTES, code1: CODE, mine: MINE }

const buildBlobRef = (hash: keyof typeof WORK_BLOBS) => ({ hash, size: WORK_BLOBS[hash].length })

export function buildArtifactRow(id: string, order: number, change: Partial<ArtifactRow> = {}): ArtifactRow {
  return {
    kind: 'artifact',
    key: id,
    order,
    sequence: order,
    artifactId: id,
    title: 'notes.md',
    artifactKind: 'document',
    status: 'saved',
    path: 'docs/notes.md',
    version: 2,
    versions: [buildVersion(1, 'notes1'), buildVersion(2, 'notes2', { base: 1, added: 11, removed: 1 })],
    agentId: 'agt_a',
    threadId: THREAD,
    createdAt: getNow() - 900e6,
    updatedAt: getNow() - 240e6,
    ...change,
  }
}

export function buildVersion(
  number: number,
  content: keyof typeof WORK_BLOBS,
  change: Partial<VersionEntry> = {},
): VersionEntry {
  return {
    version: number,
    content: buildBlobRef(content),
    versionOrigin: 'agent',
    at: getNow() - 900e6 + number * 60e6,
    agentId: 'agt_a',
    turnId: 'trn_a',
    toolCallId: 'cal_w',
    ...change,
  }
}

export const CONTEXT: ContextRow = {
  kind: 'context',
  key: THREAD,
  order: 1,
  sequence: 140,
  threadId: THREAD,
  turnId: 'trn_b',
  refs: [
    { ref: 'AGENTS.md', kind: 'instructions', source: 'folder', tokens: 412 },
    { ref: 'shot.png', kind: 'image', source: 'attached', tokens: 1105 },
    { ref: 'src/parser.py', kind: 'text', source: 'mentioned', tokens: 890 },
    { ref: 'docs', kind: 'folder', source: 'pinned', tokens: 64 },
  ],
  missing: [{ ref: 'src/lexr.py', source: 'mentioned', reason: 'not_found' }],
  omitted: [
    { reason: 'older_turns', count: 14, tokens: 22_100 },
    { reason: 'budget', ref: 'bench/data.csv', tokens: 91_000 },
  ],
  pinned: ['docs', 'src/gone.py'],
  window: 128_000,
  budget: 102_400,
  used: 84_310,
}

const artifacts: readonly Op[] = [
  upsert('artifacts', buildArtifactRow('art_a', 120)),
  upsert(
    'artifacts',
    buildArtifactRow('art_b', 121, {
      title: 'parser.py',
      artifactKind: 'code',
      path: 'src/parser.py',
      version: 3,
      versions: [
        buildVersion(1, 'code1', { versionOrigin: 'found', agentId: '', turnId: '' }),
        buildVersion(2, 'code1', { base: 1, added: 4, removed: 2 }),
        buildVersion(3, 'code1', {
          base: 2,
          versionOrigin: 'rollback',
          restores: 1,
          agentId: '',
          turnId: '',
        }),
      ],
      exports: [
        {
          export: 'exp_a',
          version: 3,
          form: 'zip',
          everything: true,
          code: 'too_large',
          message: 'Too much.',
        },
        { export: 'exp_b', version: 3, form: 'zip', artifacts: 2, done: 3_000, total: 10_000 },
        {
          export: 'exp_c',
          version: 3,
          form: 'zip',
          everything: true,
          name: 'artifacts.zip',
          content: { hash: 'z', size: 48_000 },
          leftOut: 1,
        },
      ],
    }),
  ),
  upsert(
    'artifacts',
    buildArtifactRow('art_c', 122, {
      title: 'report.md',
      path: 'docs/report.md',
      status: 'conflict',
      code: 'artifact_conflict',
      message: 'The newest version is 2.',
      draft: buildBlobRef('mine'),
      draftBase: 1,
    }),
  ),
  upsert(
    'artifacts',
    buildArtifactRow('art_d', 123, { title: 'draft.md', path: 'docs/drafts/draft.md', status: 'deleted' }),
  ),
]

const buildContextOps = (): readonly Op[] => {
  const atStep = (step: number, key?: string) => buildPosition('trn_b', 300, step, key)
  return [
    upsert('context', CONTEXT),
    upsert(
      'turns',
      buildTurnRow('trn_b', 300, {
        input: { text: 'Write down what @src/parser.py does now, and look at @src/lexr.py too.' },
        given: CONTEXT.refs?.filter((ref) => ref.source !== 'pinned') ?? [],
        missing: CONTEXT.missing ?? [],
        toolCalls: 1,
        filesChanged: 1,
        finalParts: ['run_trn_b.9'],
      }),
    ),
    upsert('parts', {
      kind: 'context_event',
      ...atStep(1, 'ctx_1'),
      event: 'resolved',
      given: 4,
      missing: CONTEXT.missing ?? [],
      omitted: CONTEXT.omitted ?? [],
    }),
    upsert('parts', {
      kind: 'context_event',
      ...atStep(2, 'ctx_2'),
      event: 'compacted',
      cause: 'window',
      tokensBefore: 96_400,
      tokensAfter: 8_200,
      summary: { text: 'The person wants the parser mended. It was: a list is made first. 41 tests pass.' },
    }),
    upsert(
      'parts',
      buildToolPart(atStep(4, 'cal_w'), 'Write', {
        summary: 'docs/notes.md',
        changes: [{ path: 'docs/notes.md', kind: 'modified', added: 11, removed: 1, diff: { text: DIFF } }],
      }),
    ),
    upsert('parts', {
      kind: 'artifact_ref',
      ...atStep(5, 'art_a 2'),
      artifactId: 'art_a',
      title: 'notes.md',
      version: 2,
      path: 'docs/notes.md',
      added: 11,
      removed: 1,
    }),
    upsert('parts', {
      kind: 'artifact_ref',
      ...atStep(6, 'art_c 1'),
      artifactId: 'art_c',
      title: 'report.md',
      version: 1,
      path: 'docs/report.md',
      added: 3,
    }),
    upsert(
      'parts',
      buildTextPart(atStep(9), 'The notes say what the parser does now. There is no `src/lexr.py`.'),
    ),
  ]
}

/** Artifacts of a session, one with a conflict, and a turn with attachments. */
export function buildWorkScenario(): Scenario {
  return {
    workspace: cards,
    openAtFirst: SESSION,
    sessions: {
      [SESSION]: [
        ...buildBase(),
        upsert('session', buildSessionRow()),
        ...buildDoneTurn('trn_a', 100),
        ...artifacts,
        ...buildContextOps(),
        upsert('status', buildStatusRow({ status: 'done', detail: 'completed', turnId: 'trn_b' })),
      ],
    },
    blobs: WORK_BLOBS,
    answers: {
      get_artifact_diff: ({ fromVersion, toVersion, artifactId }) => ({
        sessionId: SESSION,
        artifactId,
        fromVersion: Number(fromVersion),
        toVersion: Number(toVersion),
        diff: DIFF,
        added: 4,
        removed: 2,
      }),
    },
  }
}

const FORM = {
  server: 'tickets',
  message: 'Where shall the ticket go?',
  schema: {
    type: 'object',
    required: ['project', 'title'],
    properties: {
      project: { type: 'string', title: 'Project', enum: ['core', 'web'], enumNames: ['Core', 'Web'] },
      title: { type: 'string', title: 'Title', minLength: 3, description: 'One line.' },
      points: { type: 'integer', title: 'Points', minimum: 1, maximum: 13 },
      urgent: { type: 'boolean', title: 'Urgent' },
    },
  },
}

/** A running tool call that requests a form, a background process, and the tool inventory. */
export function buildToolsScenario(): Scenario {
  const atStep = (step: number, key?: string) => buildPosition('trn_b', 300, step, key)
  return {
    workspace: cards,
    openAtFirst: SESSION,
    sessions: {
      [SESSION]: [
        ...buildBase(),
        buildRunningTurn('trn_b', 300, 'waiting'),
        upsert('status', buildStatusRow({ status: 'blocked', detail: 'waiting_approval', turnId: 'trn_b' })),
        upsert(
          'parts',
          buildToolPart(atStep(2, 'cal_t'), 'tickets_create', {
            state: 'progress',
            summary: 'The parser walks its tokens twice',
            startedAt: getNow() - 9e6,
            durationMs: 0,
            done: 7,
            total: 20,
          }),
        ),
        upsert('processes', {
          kind: 'process',
          key: 'prc_a',
          order: 310,
          sequence: 310,
          processId: 'prc_a',
          threadId: THREAD,
          agentId: 'agt_a',
          turnId: 'trn_b',
          toolCallId: 'cal_p',
          state: 'running',
          command: { text: 'python -m http.server 8080' },
          startedAt: getNow() - 95e6,
        }),
        upsert(
          'actions',
          buildActionRow({
            actionType: 'structured_input',
            tool: 'tickets_create',
            toolCallId: 'cal_t',
            turnId: 'trn_b',
            prompt: `The server tickets asks:\n\n${FORM.message}`,
            decisions: ['answer', 'reject'],
            arguments: { text: JSON.stringify(FORM) },
          }),
        ),
      ],
    },
    answers: {
      get_tool_inventory: () => ({
        agent: 'solo',
        tools: [
          { name: 'Read', source: 'folder', availability: 'loaded', readOnly: true, concurrency: 'parallel' },
          { name: 'Bash', source: 'folder', availability: 'loaded', destructive: true },
          { name: 'tickets_create', source: 'mcp:tickets', availability: 'loaded', interruption: 'asked' },
          { name: 'search', source: 'mcp:search', availability: 'blocked', reason: 'Its server is lost.' },
          {
            name: 'Write',
            source: 'folder',
            availability: 'excluded',
            reason: 'Its definition lists no Write.',
          },
        ],
        servers: [
          { name: 'tickets', transport: 'stdio', condition: 'connected', tools: 1 },
          { name: 'search', transport: 'http', condition: 'lost', message: 'It ended with 1.' },
        ],
      }),
      list_processes: () => ({ processes: [] }),
    },
  }
}
