import { render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { beforeEach, expect, test } from 'vitest'
import { FakeServer, RefusedAnswer, type Scenario } from '../../../dev/fake-server'
import { buildWorkspaceRow, upsert } from '../../../dev/rows'
import { SETTINGS_ANSWERS, TRUST } from '../../../dev/scenarios/settings-answers'
import { App } from '../app'
import { createServices } from '../services'

beforeEach(() => {
  window.localStorage.clear()
  window.history.replaceState(null, '', '/')
})

async function openSettings(answers: Scenario['answers'] = {}, language = 'en') {
  const server = new FakeServer({
    workspace: [upsert('workspaces', buildWorkspaceRow())],
    sessions: {},
    meta: { models: [] },
    answers: { ...SETTINGS_ANSWERS, ...answers },
  })
  const services = createServices(server.fetch, window.localStorage, document.documentElement)
  await services.language.begin([language])
  render(<App services={services} />)
  return server
}

async function openSection(section: string, answers?: Scenario['answers']) {
  const server = await openSettings(answers)
  await userEvent.click(await screen.findByRole('button', { name: 'Settings' }))
  const dialog = within(await screen.findByRole('dialog', { name: 'Settings', hidden: true }))
  if (section !== '') await userEvent.click(dialog.getByRole('button', { name: section, hidden: true }))
  return { server, dialog }
}

const findRequest = (server: FakeServer, name: string) =>
  server.requests.filter((request) => request.name === name).map((request) => request.body)

test('hooks are listed, added and removed (SAFE-01)', async () => {
  const existing = { name: 'guard', tools: ['Bash', 'Edit(src/**)'], command: ['python3', '/h/guard.py'] }
  const { server, dialog } = await openSection('Hooks', {
    get_settings: (body) => ({
      ...Object(SETTINGS_ANSWERS.get_settings?.(body)),
      values: { hooks: [existing] },
    }),
  })
  expect(await dialog.findByText('Bash, Edit(src/**) → python3 /h/guard.py')).toBeTruthy()
  await userEvent.click(dialog.getByRole('button', { name: 'Add hook', hidden: true }))
  const form = within(dialog.getByRole('form', { name: 'Add hook', hidden: true }))
  const add = form.getByRole('button', { name: 'Add', hidden: true })
  await userEvent.type(form.getByLabelText('Name'), 'guard')
  await userEvent.click(add)
  expect(form.getByRole('alert', { hidden: true }).textContent).toContain('guard')
  await userEvent.type(form.getByLabelText('Name'), '2')
  await userEvent.type(form.getByLabelText(/^Program and arguments/), 'node{Enter}/h/b.js')
  await userEvent.click(add)
  await waitFor(() => expect(findRequest(server, 'update_settings')).toHaveLength(1))
  expect(findRequest(server, 'update_settings')[0]).toMatchObject({
    changes: { hooks: [existing, { name: 'guard2', tools: ['*'], command: ['node', '/h/b.js'] }] },
  })
  await userEvent.click(dialog.getByRole('button', { name: 'Remove guard', hidden: true }))
  await waitFor(() => expect(findRequest(server, 'update_settings')).toHaveLength(2))
  expect(findRequest(server, 'update_settings')[1]).toMatchObject({ changes: { hooks: [] } })
})

test('a local model server connects with one click and joins the configured models', async () => {
  const server = await openSettings()
  await userEvent.click(await screen.findByRole('button', { name: 'Connect qwen3:8b from Ollama' }))
  await waitFor(() => expect(findRequest(server, 'update_settings')).toHaveLength(1))
  expect(findRequest(server, 'update_settings')[0]).toMatchObject({
    place: 'user',
    digest: 'd'.repeat(64),
    changes: {
      models: [
        { name: 'anthropic', api_key: '********' },
        {
          kind: 'openai-compatible',
          name: 'ollama',
          model: 'qwen3:8b',
          base_url: 'http://127.0.0.1:11434/v1',
        },
      ],
    },
  })
  // The next step is to type an objective.
  const message = await screen.findByRole('textbox', { name: 'Message' })
  await waitFor(() => expect(document.activeElement).toBe(message))
})

test('a model that failed its test has no green mark', async () => {
  const { dialog } = await openSection('', {
    test_model: ({ name }) => ({
      name,
      ok: false,
      problem: {
        code: 'model_auth',
        message: 'anthropic responded with 401: no such key',
        hint: 'Check the key.',
      },
    }),
  })
  const mark = () => dialog.getByRole('button', { name: 'Test anthropic/opus', hidden: true }).closest('li')
  expect(mark()?.querySelector('.bg-good')).not.toBeNull()
  await userEvent.click(dialog.getByRole('button', { name: 'Test anthropic/opus', hidden: true }))
  await dialog.findByText('anthropic responded with 401: no such key')
  expect(mark()?.querySelector('.bg-good')).toBeNull()
  expect(mark()?.querySelector('.bg-bad')).not.toBeNull()
})

test('a key goes to the keyring and is not kept in the page; the settings name its handle (SAFE-09)', async () => {
  const key = 'sk-ant-very-secret'
  const { server, dialog } = await openSection('', {
    set_secret: ({ name }) => ({ name, place: 'keyring', handle: `secret://${name}` }),
  })
  await userEvent.click(dialog.getByRole('button', { name: 'Connect model', hidden: true }))
  await userEvent.click(dialog.getByRole('radio', { name: 'Google', hidden: true }))
  await userEvent.type(dialog.getByLabelText('Model'), 'gemini-3')
  await userEvent.type(dialog.getByLabelText(/^Key/), key)
  const form = within(dialog.getByRole('form', { name: 'Connect model', hidden: true }))
  await userEvent.click(form.getByRole('button', { name: 'Connect', hidden: true }))
  await waitFor(() => expect(findRequest(server, 'update_settings')).toHaveLength(1))
  expect(findRequest(server, 'set_secret')).toEqual([{ name: 'google', value: key }])
  expect(JSON.stringify(findRequest(server, 'update_settings'))).toContain('"api_key":"secret://google"')
  expect(JSON.stringify(findRequest(server, 'update_settings'))).not.toContain(key)
  expect(document.body.innerHTML).not.toContain(key)
  expect(JSON.stringify(window.localStorage)).not.toContain(key)
})

test('without a keyring the page does not ask for a key (SAFE-09)', async () => {
  const problem = 'This system has no keyring.'
  const { dialog } = await openSection('', { list_secrets: () => ({ secrets: [], problem }) })
  await userEvent.click(dialog.getByRole('button', { name: 'Connect model', hidden: true }))
  expect(await dialog.findByText(problem)).toBeTruthy()
  expect(dialog.queryByRole('radio', { name: 'System keyring', hidden: true })).toBeNull()
  expect(dialog.queryByLabelText(/^Key/)).toBeNull()
})

test('a rejected setting shows its problem at its field and keeps the typed value', async () => {
  const { server, dialog } = await openSection('Shell', {
    update_settings: () =>
      new RefusedAnswer(422, {
        code: 'bad_settings',
        field: 'shell.timeout',
        message: 'It must be at most 86400.',
      }),
  })
  const seconds = await dialog.findByLabelText('Timeout (seconds)')
  await userEvent.clear(seconds)
  await userEvent.type(seconds, '-3')
  expect(dialog.getByText('Enter 0 or more.')).toBeTruthy()
  expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Save', hidden: true }).disabled).toBe(true)
  await userEvent.clear(seconds)
  await userEvent.type(seconds, '900')
  await userEvent.click(dialog.getByRole('button', { name: 'Save', hidden: true }))
  expect(await dialog.findByText('It must be at most 86400.')).toBeTruthy()
  expect(seconds.getAttribute('aria-invalid')).toBe('true')
  expect((seconds as HTMLInputElement).value).toBe('900')
  expect(findRequest(server, 'update_settings')[0]).toMatchObject({ changes: { shell: { timeout: 900 } } })
})

test('a file that changed on disk is not overwritten and can be reloaded', async () => {
  const { dialog } = await openSection('Shell', {
    update_settings: () =>
      new RefusedAnswer(409, { code: 'conflict', message: 'The file is another by now.' }),
  })
  await userEvent.click(await dialog.findByLabelText('Network access'))
  await userEvent.click(dialog.getByRole('button', { name: 'Save', hidden: true }))
  expect(await dialog.findByText('The file changed on disk. Nothing was saved.')).toBeTruthy()
  expect(dialog.getByRole('button', { name: 'Reload', hidden: true })).toBeTruthy()
})

test('a rule is previewed on past calls before it is added', async () => {
  const { server, dialog } = await openSection('Rules')
  await userEvent.type(dialog.getByLabelText('Tool and arguments'), 'Bash(make *)')
  await userEvent.click(dialog.getByRole('radio', { name: 'Allow', hidden: true }))
  await userEvent.click(dialog.getByRole('button', { name: 'Test on past calls', hidden: true }))
  expect(await dialog.findByText('14 calls would be allowed.')).toBeTruthy()
  expect(findRequest(server, 'add_rule')).toEqual([])
  await userEvent.click(dialog.getByRole('button', { name: 'Add to this folder', hidden: true }))
  await waitFor(() =>
    expect(findRequest(server, 'add_rule')).toEqual([
      { matcher: 'Bash(make *)', verdict: 'allow', workspaceId: 'wks_a' },
    ]),
  )
})

test('an untrusted folder asks once, listing the permissions; "not now" applies to exactly those (SAFE-08)', async () => {
  const server = await openSettings()
  const banner = within(await screen.findByRole('region', { name: 'Trust request' }))
  expect(banner.getByText('npx -y @acme/tools')).toBeTruthy()
  await userEvent.click(banner.getByRole('button', { name: 'Not now' }))
  expect(screen.queryByRole('region', { name: 'Trust request' })).toBeNull()
  expect(window.localStorage.getItem('callboard.trust.wks_a')).toBe(TRUST.digest)
  expect(findRequest(server, 'trust_workspace')).toEqual([])
})

test('a folder is trusted by the digest of what the page showed', async () => {
  const server = await openSettings()
  await userEvent.click(await screen.findByRole('button', { name: 'Trust folder' }))
  await waitFor(() =>
    expect(findRequest(server, 'trust_workspace')).toEqual([{ workspaceId: 'wks_a', digest: TRUST.digest }]),
  )
})

test('a folder that requests nothing is not asked about', async () => {
  await openSettings({ get_trust: () => ({ ...TRUST, state: 'nothing', widenings: [], digest: '' }) })
  expect(await screen.findByText(/No model connected/)).toBeTruthy()
  expect(screen.queryByRole('region', { name: 'Trust request' })).toBeNull()
})

test('problems of a settings file are translated by their code; an unknown code shows the message (UI-26)', async () => {
  const problem = { file: 'settings.toml', field: 'shell.memory', message: 'English.', keepsLast: true }
  const problems = [
    { ...problem, code: 'too_small', params: { limit: '64', line: '2', docs: 'docs/settings.md' } },
    { ...problem, code: 'of_tomorrow', params: {}, message: 'A later problem.' },
  ]
  await openSettings({ get_trust: () => ({ ...TRUST, problems }) }, 'zh-CN')
  expect(await screen.findByText(/请输入不小于 64 的值。请参阅 docs\/settings.md。/)).toBeTruthy()
  expect(screen.getByText('settings.toml:2 shell.memory')).toBeTruthy()
  expect(screen.getByText('A later problem.')).toBeTruthy()
  expect(screen.queryByText(/English/)).toBeNull()
})

test('a refusal of the settings editor is shown in Chinese', async () => {
  await openSettings(
    {
      update_settings: () =>
        new RefusedAnswer(422, {
          code: 'bad_settings',
          field: 'changes.models.0.name',
          message: 'English.',
          reason: 'duplicate_name',
          params: { name: 'a' },
        }),
    },
    'zh-CN',
  )
  await userEvent.click(await screen.findByRole('button', { name: '设置' }))
  const dialog = within(await screen.findByRole('dialog', { name: '设置', hidden: true }))
  await userEvent.click(dialog.getByRole('button', { name: '移除 anthropic/opus', hidden: true }))
  expect(await dialog.findByText('名称“a”重复。请为每个条目使用唯一的名称。')).toBeTruthy()
  expect(dialog.queryByText('English.')).toBeNull()
})
