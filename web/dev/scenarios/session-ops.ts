/** Operations shared by all scenarios. */
import type { Op } from '../../src/system/generated/contracts'
import {
  buildCardRow,
  buildPosition,
  buildReasoningPart,
  buildSessionRow,
  buildTextPart,
  buildToolPart,
  buildTurnRow,
  buildWorkspaceRow,
  SESSION,
  upsert,
} from '../rows'

export const getNow = () => Date.now() * 1000

export const DIFF = `--- a/src/parser.py
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

export const ANSWER = `The test failed because \`Parser.parse\` handed a generator to \`build\`, which walks its tokens twice.

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

export const cards: readonly Op[] = [
  upsert('workspaces', buildWorkspaceRow()),
  upsert('sessions', buildCardRow(SESSION, 900, { state: 'running', pinned: true, updatedAt: getNow() })),
  upsert(
    'sessions',
    buildCardRow('ses_b', 890, {
      title: 'Write the release notes',
      state: 'waiting',
      attention: 'needs_input',
      pendingActions: 1,
      updatedAt: getNow() - 60e6,
    }),
  ),
  upsert(
    'sessions',
    buildCardRow('ses_c', 880, {
      title: 'Why is the import so slow on cold start?',
      state: 'failed',
      attention: 'failed',
      updatedAt: getNow() - 3600e6,
    }),
  ),
  upsert(
    'sessions',
    buildCardRow('ses_d', 870, {
      title: '把配置迁移到新的格式',
      state: 'idle',
      updatedAt: getNow() - 2 * 86400e6,
    }),
  ),
  upsert(
    'sessions',
    buildCardRow('ses_e', 860, {
      title: 'Rename every Foo to Bar',
      state: 'lost',
      updatedAt: getNow() - 7200e6,
    }),
  ),
  upsert(
    'sessions',
    buildCardRow('ses_f', 850, {
      title: 'Explain the retry logic',
      state: 'idle',
      archived: true,
      updatedAt: getNow() - 9 * 86400e6,
    }),
  ),
]

export function buildDoneTurn(id: string, order: number): readonly Op[] {
  const atStep = (step: number, key?: string) => buildPosition(id, order, step, key)
  return [
    upsert(
      'turns',
      buildTurnRow(id, order, {
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
      buildReasoningPart(
        atStep(1),
        'The test names an empty input. I should read the parser before I guess.\nThen the test.',
      ),
    ),
    upsert(
      'parts',
      buildToolPart(atStep(2, `cal_${id}_1`), 'Read', {
        summary: 'src/parser.py',
        arguments: { text: '{"path":"src/parser.py"}' },
        output: { text: 'class Parser:\n    ...\n' },
      }),
    ),
    upsert(
      'parts',
      buildTextPart(atStep(3), 'The parser walks its tokens twice. Let me see the test.', {
        commentary: true,
      }),
    ),
    upsert(
      'parts',
      buildToolPart(atStep(4, `cal_${id}_2`), 'Bash', {
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
      buildToolPart(atStep(5, `cal_${id}_3`), 'Edit', {
        summary: 'src/parser.py',
        arguments: { text: '{"path":"src/parser.py","old":"tokens = self.lexer.run(text)"}' },
        changes: [{ path: 'src/parser.py', kind: 'modified', added: 4, removed: 2, diff: { text: DIFF } }],
      }),
    ),
    upsert('parts', {
      kind: 'action_required',
      ...atStep(6, `act_${id}`),
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
      buildToolPart(atStep(7, `cal_${id}_4`), 'Bash', {
        summary: 'python -m pytest -q',
        arguments: { text: '{"command":"python -m pytest -q"}' },
        exitCode: 0,
        durationMs: 4120,
        verdict: 'ask',
        output: { text: '41 passed in 3.9s\n' },
      }),
    ),
    upsert('parts', buildTextPart(atStep(9), ANSWER)),
  ]
}

export const buildRunningTurn = (id: string, order: number, state: 'running' | 'waiting' = 'running'): Op =>
  upsert(
    'turns',
    buildTurnRow(id, order, {
      state,
      input: { text: 'Now do the same for the lexer, and add a benchmark.' },
      startedAt: getNow() - 14e6,
      endedAt: 0,
      toolCalls: 2,
      iterations: 2,
    }),
  )

export const buildBase = (): readonly Op[] => [
  upsert('session', buildSessionRow()),
  ...buildDoneTurn('trn_a', 100),
]
