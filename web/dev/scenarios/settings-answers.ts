/** Sample settings, models, rules and servers. */
import type { Scenario } from '../fake-server'
import { WORKSPACE } from '../rows'

const SCHEMA = {
  $ref: '#/$defs/Settings',
  $defs: {
    Settings: {
      type: 'object',
      properties: {
        port: { type: 'integer', minimum: 0, maximum: 65535, default: 4747 },
        browser: { type: 'boolean', default: true },
        demo_pace: { type: 'number', minimum: 0, maximum: 100, default: 1 },
        retention: { type: 'integer', minimum: 0, maximum: 36500, default: 0 },
        models: { type: 'array', items: { type: 'object' } },
        shell: { $ref: '#/$defs/Shell', default: {} },
        context: { $ref: '#/$defs/Context', default: {} },
      },
    },
    Shell: {
      type: 'object',
      properties: {
        network: { type: 'boolean', default: false },
        timeout: { type: 'number', exclusiveMinimum: 0, maximum: 86400, default: 120 },
        memory: { type: 'integer', minimum: 64, maximum: 1048576, default: 4096 },
      },
    },
    Context: {
      type: 'object',
      properties: {
        instructions: { type: 'array', items: { type: 'string' }, default: ['AGENTS.md', 'CLAUDE.md'] },
        compact_at: { type: 'number', minimum: 0.1, maximum: 1, default: 0.8 },
      },
    },
  },
}

export const TRUST = {
  workspaceId: WORKSPACE,
  folder: '/home/ada/atlas',
  state: 'untrusted',
  digest: 'a'.repeat(64),
  trusted: '',
  widenings: [
    {
      what: 'rule',
      code: 'rule',
      parameters: { matcher: 'Bash(make *)' },
      detail: 'Bash(make *) runs without asking',
      file: '.callboard/settings.toml',
    },
    {
      what: 'server',
      code: 'server_starts',
      parameters: { name: 'tools', command: 'npx -y @acme/tools', secrets: 'acme' },
      detail: 'the tools of tools: starts npx -y @acme/tools, and gives it the secret acme',
      file: '.callboard/settings.toml',
    },
  ],
  problems: [],
}

export const SETTINGS_ANSWERS: NonNullable<Scenario['answers']> = {
  get_trust: () => TRUST,
  get_settings: ({ place }) => ({
    place,
    path:
      place === 'user' ? '/home/ada/.callboard/settings.toml' : '/home/ada/atlas/.callboard/settings.toml',
    digest: 'd'.repeat(64),
    values: {
      models: [{ kind: 'anthropic', name: 'anthropic', model: 'opus', api_key: '********' }],
      fallback: ['openai'],
      servers: [{ transport: 'stdio', name: 'files', command: ['npx', '-y', '@acme/files'] }],
    },
    holding: { permission_mode: 'ask', shell: { network: false, timeout: 120, memory: 4096 }, port: 4747 },
    jsonSchema: SCHEMA,
    problems: [],
  }),
  list_models: () => ({
    configured: [
      {
        name: 'anthropic/opus',
        provider: 'anthropic',
        model: 'opus',
        kind: 'anthropic',
        label: 'opus',
        usable: true,
        images: true,
        default: true,
        window: 200_000,
      },
      {
        name: 'openai/gpt-6-mini',
        provider: 'openai',
        model: 'gpt-6-mini',
        kind: 'openai',
        label: 'gpt-6-mini',
        usable: false,
        images: true,
        why: 'The variable OPENAI_API_KEY is not set.',
        fallback: 1,
      },
    ],
    found: [
      {
        kind: 'server',
        name: 'Ollama',
        where: 'http://127.0.0.1:11434',
        models: ['qwen3:8b', 'llama4'],
        settings: '[[models]]',
        entry: {
          name: 'ollama',
          kind: 'openai-compatible',
          base_url: 'http://127.0.0.1:11434/v1',
          model: 'qwen3:8b',
        },
      },
      { kind: 'agent', name: 'Claude Code', where: '/usr/bin/claude', settings: 'provider: acp' },
    ],
  }),
  test_model: ({ name }) => ({ name, ok: true, text: 'Yes.', firstMs: 210, durationMs: 480 }),
  list_secrets: () => ({ secrets: [] }),
  list_rules: () => ({
    rules: [
      { ruleId: 'rul_a', matcher: 'Bash(git status*)', verdict: 'allow', scope: 'workspace' },
      {
        ruleId: 'rul_b',
        matcher: 'Bash(make *)',
        verdict: 'allow',
        scope: 'folder_settings',
        source: '.callboard/settings.toml',
        heldBack: 'The folder is not trusted.',
      },
    ],
  }),
  dry_run_rules: () => ({
    sessions: 4,
    calls: 212,
    whole: true,
    unspoken: 180,
    turned: { allowed: 14, asked: 0, denied: 2 },
    rules: [{ matcher: 'Bash(make *)', verdict: 'allow', calls: 32 }],
    examples: [
      {
        sessionId: 'ses_a',
        turnId: 'trn_a',
        toolCallId: 'cal_1',
        tool: 'Bash',
        subject: 'make all',
        was: 'ask',
        would: 'allow',
        matcher: 'Bash(make *)',
      },
    ],
  }),
  list_servers: () => ({
    servers: [
      {
        name: 'files',
        transport: 'stdio',
        condition: 'connected',
        title: 'acme-files',
        version: '1.2',
        tools: 7,
      },
      {
        name: 'search',
        transport: 'http',
        condition: 'lost',
        code: 'tool_server_lost',
        message: 'It ended with 1.',
        said: 'Error: EADDRINUSE',
      },
    ],
  }),
}
