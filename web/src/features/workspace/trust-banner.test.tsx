import { screen, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { RequestedPermission, TrustRead } from '@/system/generated/contracts'
import { CHINESE, ENGLISH, NO_BLOBS, show } from '../../../dev/surfaces'
import { TrustBanner } from './trust-banner'

const FILE = '.callboard/settings.toml'
const buildRequest = (
  what: RequestedPermission['what'],
  code: RequestedPermission['code'],
  parameters: Record<string, string>,
) => ({
  what,
  code,
  parameters,
  detail: `${code} in English`,
  file: FILE,
})
const WIDENINGS = [
  buildRequest('agent', 'agent_mode', { name: 'lead', mode: 'full' }),
  buildRequest('rule', 'rule', { matcher: 'Bash(make *)' }),
  buildRequest('hook', 'hook_starts', {
    name: 'guard',
    tools: 'Bash',
    command: 'sh a\u202eb.sh',
    secrets: 'key',
  }),
  buildRequest('server', 'server_reaches', { name: 'issues', url: 'https://mcp.example.org' }),
  buildRequest('server', 'program_runs', { path: '.callboard/x.py', digest: '0123456789ab' }),
]

function showBanner(t = ENGLISH) {
  const trust: TrustRead = {
    workspaceId: 'wks_a',
    folder: '/home/ada/atlas',
    state: 'untrusted',
    digest: 'a'.repeat(64),
    trusted: '',
    widenings: WIDENINGS,
    problems: [],
  }
  show(<TrustBanner trust={trust} onTrust={vi.fn()} onNotNow={vi.fn()} />, NO_BLOBS, t)
  return screen.getByRole('region')
}

test('the card names the folder, counts the requested permissions, and lists those outside the sandbox first (SAFE-08)', () => {
  const region = showBanner()
  expect(within(region).getByText('/home/ada/atlas')).toBeTruthy()
  expect(within(region).getByText('5 permissions requested')).toBeTruthy()
  expect(screen.getAllByRole('list').map((list) => list.getAttribute('aria-label'))).toEqual([
    'Hooks (no sandbox)',
    'Tool servers (no sandbox)',
    'Rules',
    'Agents',
  ])
  expect(screen.getByText('sh a⟨U+202E⟩b.sh')).toBeTruthy()
  expect(screen.getByText('Secrets: key')).toBeTruthy()
  expect(screen.getByText('.callboard/x.py (sha256 0123456789ab)')).toBeTruthy()
})

test('all requested permissions can be reached by keyboard, however long the list is', () => {
  showBanner()
  expect(screen.getByRole('group', { name: 'Permissions requested' }).tabIndex).toBe(0)
})

test('requested permissions are worded in the page’s language, from codes', () => {
  const text = showBanner(CHINESE).textContent ?? ''
  expect(text).not.toContain('in English')
  for (const line of [
    'lead：在你选择时为“完全访问”',
    '无需批准即允许 Bash(make *)',
    'issues 连接到',
    '机密：key',
  ])
    expect(text).toContain(line)
})
