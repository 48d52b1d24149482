/** Made-up situations of the page. */
import type { Op } from '../src/system/generated/contracts'
import type { Scenario } from './fake-server'
import {
  actionRow,
  append,
  cardRow,
  place,
  queueRow,
  reasoningPart,
  SESSION,
  sessionRow,
  statusRow,
  textPart,
  toolPart,
  turnRow,
  upsert,
  workspaceRow,
} from './rows'

const now = () => Date.now() * 1000

const DIFF = `--- a/src/parser.py
+++ b/src/parser.py
@@ -12,9 +12,11 @@ class Parser:
     def parse(self, text: str) -> Tree:
-        tokens = self.lexer.run(text)
-        return self.build(tokens)
+        tokens = list(self.lexer.run(text))
+        if not tokens:
+            return Tree.empty()
+        return self.build(tokens)
 
     def build(self, tokens: list[Token]) -> Tree:
         root = Tree()
`

const ANSWER = `The test failed because \`Parser.parse\` handed a generator to \`build\`, which walks its tokens twice.

1. \`src/parser.py\` now makes a list first, and an empty input gives an empty tree.
2. \`tests/test_parser.py\` has a case for the empty input.

| file | lines | what |
|---|---:|---|
| \`src/parser.py\` | +4 −2 | the fix |
| \`tests/test_parser.py\` | +6 | the case |

\`\`\`python
def test_an_empty_input_gives_an_empty_tree():
    assert Parser().parse("") == Tree.empty()
\`\`\`

All **41 tests** pass. See [the lexer](https://example.org/lexer) for why it is lazy.
`

const cards: readonly Op[] = [
  upsert('workspaces', workspaceRow()),
  upsert('sessions', cardRow(SESSION, 900, { state: 'running', pinned: true, updatedAt: now() })),
  upsert(
    'sessions',
    cardRow('ses_b', 890, {
      title: 'Write the release notes',
      state: 'waiting',
      attention: 'needs_input',
      pendingActions: 1,
      updatedAt: now() - 60e6,
    }),
  ),
  upsert(
    'sessions',
    cardRow('ses_c', 880, {
      title: 'Why is the import so slow on cold start?',
      state: 'failed',
      attention: 'failed',
      updatedAt: now() - 3600e6,
    }),
  ),
  upsert(
    'sessions',
    cardRow('ses_d', 870, { title: '把配置迁移到新的格式', state: 'idle', updatedAt: now() - 2 * 86400e6 }),
  ),
  upsert(
    'sessions',
    cardRow('ses_e', 860, { title: 'Rename every Foo to Bar', state: 'lost', updatedAt: now() - 7200e6 }),
  ),
  upsert(
    'sessions',
    cardRow('ses_f', 850, {
      title: 'Explain the retry logic',
      state: 'idle',
      archived: true,
      updatedAt: now() - 9 * 86400e6,
    }),
  ),
]

function done(id: string, order: number): readonly Op[] {
  const at = (step: number, key?: string) => place(id, order, step, key)
  return [
    upsert(
      'turns',
      turnRow(id, order, {
        input: { text: 'The parser test fails since yesterday. Find out why and mend it.' },
        toolCalls: 4,
        filesChanged: 2,
        iterations: 5,
        inputTokens: 18234,
        outputTokens: 912,
        finalParts: [`run_${id}.9`],
      }),
    ),
    upsert(
      'parts',
      reasoningPart(
        at(1),
        'The test names an empty input. I should read the parser before I guess.\nThen the test.',
      ),
    ),
    upsert(
      'parts',
      toolPart(at(2, `cal_${id}_1`), 'Read', {
        summary: 'src/parser.py',
        arguments: { text: '{"path":"src/parser.py"}' },
        output: { text: 'class Parser:\n    ...\n' },
      }),
    ),
    upsert(
      'parts',
      textPart(at(3), 'The parser walks its tokens twice. Let me see the test.', { commentary: true }),
    ),
    upsert(
      'parts',
      toolPart(at(4, `cal_${id}_2`), 'Bash', {
        summary: 'python -m pytest tests/test_parser.py -q',
        arguments: { text: '{"command":"python -m pytest tests/test_parser.py -q"}' },
        state: 'output-error',
        code: 'tool_failed',
        message: 'The command ended with exit code 1.',
        exitCode: 1,
        durationMs: 2312,
        output: { text: '\u001b[31mF\u001b[0m.\n1 failed, 1 passed in 0.31s\n' },
      }),
    ),
    upsert(
      'parts',
      toolPart(at(5, `cal_${id}_3`), 'Edit', {
        summary: 'src/parser.py',
        arguments: { text: '{"path":"src/parser.py","old":"tokens = self.lexer.run(text)"}' },
        changes: [{ path: 'src/parser.py', kind: 'modified', added: 4, removed: 2, diff: { text: DIFF } }],
      }),
    ),
    upsert('parts', {
      kind: 'action_required',
      ...at(6, `act_${id}`),
      actionId: `act_${id}`,
      actionType: 'tool_approval',
      tool: 'Bash',
      prompt: '',
      outcome: 'approved',
      answeredScope: 'session',
      actor: 'person:browser',
    }),
    upsert(
      'parts',
      toolPart(at(7, `cal_${id}_4`), 'Bash', {
        summary: 'python -m pytest -q',
        arguments: { text: '{"command":"python -m pytest -q"}' },
        exitCode: 0,
        durationMs: 4120,
        verdict: 'ask',
        output: { text: '41 passed in 3.9s\n' },
      }),
    ),
    upsert('parts', textPart(at(9), ANSWER)),
  ]
}

const running = (id: string, order: number, state: 'running' | 'waiting' = 'running'): Op =>
  upsert(
    'turns',
    turnRow(id, order, {
      state,
      input: { text: 'Now do the same for the lexer, and add a benchmark.' },
      startedAt: now() - 14e6,
      endedAt: 0,
      toolCalls: 2,
      iterations: 2,
    }),
  )

const base = (): readonly Op[] => [upsert('session', sessionRow()), ...done('trn_a', 100)]

function streaming(): Scenario {
  const at = (step: number, key?: string) => place('trn_b', 300, step, key)
  const words =
    `I have read the lexer. It yields tokens one by one, and **three** callers walk them twice:\n\n- \`build\`\n- \`highlight\`\n- \`count\`\n\nI will make a list in each of them, then measure. `.split(
      /(?<= )/,
    )
  let offset = 0
  const batches = Array.from({ length: 400 }, (_, index) => {
    const word = words[index % words.length] ?? ''
    const op = append('run_trn_b.6', 'content', offset, word)
    offset += word.length
    return [op]
  })
  return {
    workspace: cards,
    openAtFirst: SESSION,
    sessions: {
      [SESSION]: [
        ...base(),
        running('trn_b', 300),
        upsert(
          'status',
          statusRow({
            status: 'streaming',
            detail: 'answering',
            turnId: 'trn_b',
            iteration: 2,
            maxIters: 24,
            inputTokens: 20411,
            outputTokens: 388,
          }),
        ),
        upsert('parts', reasoningPart(at(1), 'The lexer is lazy on purpose.')),
        upsert('parts', toolPart(at(2, 'cal_r'), 'Read', { summary: 'src/lexer.py', durationMs: 12 })),
        upsert('parts', toolPart(at(3, 'cal_g'), 'Grep', { summary: 'lexer\\.run', durationMs: 87 })),
        upsert(
          'parts',
          toolPart(at(4, 'cal_b'), 'Bash', {
            summary: 'python bench/lexer.py --rounds 20',
            state: 'progress',
            startedAt: now() - 9e6,
            durationMs: 0,
            output: {
              text: Array.from(
                { length: 30 },
                (_, i) => `round ${i + 1}: ${(3.1 + (i % 7) / 10).toFixed(2)} ms`,
              ).join('\n'),
            },
          }),
        ),
        upsert('parts', textPart(at(6), '', { state: 'streaming' })),
        upsert('queue', queueRow('trn_q1', 1, 'Then write down what you measured in docs/bench.md')),
        upsert('queue', queueRow('trn_q2', 2, 'And open an issue for the highlighter')),
      ],
    },
    play: { session: SESSION, every: 40, batches },
  }
}

function approval(): Scenario {
  const at = (step: number, key?: string) => place('trn_b', 300, step, key)
  return {
    workspace: cards,
    openAtFirst: SESSION,
    sessions: {
      [SESSION]: [
        ...base(),
        running('trn_b', 300, 'waiting'),
        upsert(
          'status',
          statusRow({
            status: 'blocked',
            detail: 'waiting_approval',
            tool: 'Edit',
            turnId: 'trn_b',
            iteration: 2,
            maxIters: 24,
            inputTokens: 20411,
            outputTokens: 388,
          }),
        ),
        upsert('parts', toolPart(at(2, 'cal_r'), 'Read', { summary: 'src/lexer.py', durationMs: 12 })),
        upsert(
          'parts',
          toolPart(at(3, 'cal_a'), 'Edit', {
            summary: 'src/parser.py',
            state: 'input-available',
            durationMs: 0,
            verdict: 'ask',
            sandbox: '',
            actionId: 'act_a',
          }),
        ),
        upsert('parts', {
          kind: 'action_required',
          ...at(4, 'act_a'),
          actionId: 'act_a',
          actionType: 'tool_approval',
          tool: 'Edit',
          prompt: '',
          outcome: 'pending',
        }),
        upsert(
          'actions',
          actionRow({
            tool: 'Edit',
            risk: 'medium',
            turnId: 'trn_b',
            prompt: 'Change src/parser.py',
            arguments: {
              text: '{"path":"src/parser.py","old":"tokens = self.lexer.run(text)","new":"tokens = list(self.lexer.run(text))"}',
            },
            preview: { text: DIFF },
            matchers: { session: 'Edit(src/**)', workspace: 'Edit(src/**)' },
            policy: 'ask before changes',
          }),
        ),
        upsert(
          'actions',
          actionRow({
            key: 'act_b',
            actionId: 'act_b',
            order: 41,
            risk: 'high',
            toolCallId: 'cal_x',
            preview: { text: 'rm -rf build && make all\u202e' },
            expiresAt: now() + 600e6,
          }),
        ),
      ],
    },
  }
}

function failed(): Scenario {
  const at = (step: number, key?: string) => place('trn_b', 300, step, key)
  return {
    workspace: cards,
    openAtFirst: SESSION,
    sessions: {
      [SESSION]: [
        ...base(),
        upsert(
          'turns',
          turnRow('trn_b', 300, {
            state: 'failed',
            code: 'model_rate_limited',
            message: 'The provider answered 429.',
            toolCalls: 2,
            input: { text: 'Now do the same for the lexer.' },
          }),
        ),
        upsert(
          'status',
          statusRow({
            status: 'blocked',
            detail: 'paused',
            paused: 'failed',
            turnId: 'trn_b',
            iteration: 3,
            maxIters: 24,
          }),
        ),
        upsert('parts', toolPart(at(2, 'cal_r'), 'Read', { summary: 'src/lexer.py', durationMs: 12 })),
        upsert(
          'parts',
          toolPart(at(3, 'cal_l'), 'Bash', {
            summary: 'make',
            state: 'output-error',
            code: 'tool_lost',
            message: 'lost',
          }),
        ),
        upsert('parts', {
          kind: 'runtime_status',
          ...at(4),
          code: 'model_rate_limited',
          message: 'The provider answered 429.',
          retryInMs: 4000,
        }),
        upsert('parts', {
          kind: 'error',
          ...at(5),
          code: 'model_rate_limited',
          message: 'The provider answered 429: rate limit reached for requests.',
          hint: 'Wait a minute, or choose another model.',
          retryable: true,
        }),
        upsert('parts', {
          kind: 'user_text',
          ...at(6),
          steerId: 'str_a',
          outcome: 'rejected',
          reason: 'turn_failed',
          content: { text: 'Leave the highlighter alone.' },
        }),
        upsert(
          'turns',
          turnRow('trn_c', 400, { state: 'interrupted', code: 'crash', input: { text: 'Try once more.' } }),
        ),
        upsert(
          'parts',
          textPart(place('trn_c', 400, 1), 'I had begun to write an answer, and th', {
            state: 'interrupted',
          }),
        ),
        upsert('queue', queueRow('trn_q1', 1, 'Then write down what you measured in docs/bench.md')),
      ],
    },
  }
}

function many(): Scenario {
  const turns = Array.from({ length: 300 }, (_, index) =>
    done(`trn_${String(index).padStart(4, '0')}`, 100 + index * 20),
  )
  return {
    workspace: cards,
    openAtFirst: SESSION,
    sessions: {
      [SESSION]: [
        upsert('session', sessionRow({ title: 'A very long session' })),
        upsert('status', statusRow({ status: 'done', detail: 'completed' })),
        ...turns.flat(),
      ],
    },
  }
}

export const SCENARIOS: Readonly<Record<string, () => Scenario>> = {
  empty: () => ({
    workspace: [upsert('workspaces', workspaceRow())],
    sessions: {},
    meta: { models: [{ provider: 'offline', name: 'offline', label: 'search, no model' }] },
  }),
  first: () => ({ workspace: cards, sessions: {} }),
  done: () => ({
    workspace: cards,
    openAtFirst: SESSION,
    sessions: {
      [SESSION]: [
        ...base(),
        upsert(
          'status',
          statusRow({
            status: 'done',
            detail: 'completed',
            turnId: 'trn_a',
            iteration: 5,
            maxIters: 24,
            inputTokens: 18234,
            outputTokens: 912,
          }),
        ),
      ],
    },
  }),
  streaming,
  approval,
  failed,
  many,
}
