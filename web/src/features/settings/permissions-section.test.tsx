import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { TrustRead } from '@/system/generated/contracts'
import type { SettingsView } from '@/system/stores/settings-store'
import { show } from '../../../dev/surfaces'
import { FolderTrust, PermissionsSection } from './permissions-section'
import type { SettingsHandlers } from './settings-section'

const TRUST: TrustRead = {
  workspaceId: 'wks_a',
  folder: '/home/ada/atlas',
  state: 'untrusted',
  digest: 'a'.repeat(64),
  trusted: '',
  widenings: [
    {
      what: 'agent',
      code: 'agent_mode',
      parameters: { name: 'lead', mode: 'full' },
      detail: 'lead',
      file: 'agents/lead.md',
    },
  ],
  problems: [],
}
const PROBLEM = { file: '.callboard/settings.toml', message: 'Invalid.' }

test('settings that name no mode show the default as chosen', () => {
  const buildView = (place: string) => ({ place, read: { holding: {} } }) as unknown as SettingsView
  const handlers = { onWrite: vi.fn() } as unknown as SettingsHandlers
  const { update } = show(<PermissionsSection view={buildView('user')} trust={null} handlers={handlers} />)
  expect(screen.getByRole('radio', { name: /^Ask first/ })).toHaveProperty('checked', true)
  update(<PermissionsSection view={buildView('folder')} trust={null} handlers={handlers} />)
  expect(screen.getByRole('radio', { name: /^Ask first/ })).toHaveProperty('checked', false)
})

test('a folder with an invalid settings file shows no requests and no button to trust it (SAFE-08)', () => {
  const { update } = show(<FolderTrust trust={TRUST} onTrust={vi.fn()} onRevoke={vi.fn()} />)
  expect(screen.getByRole('button', { name: 'Trust folder' })).toBeTruthy()
  update(<FolderTrust trust={{ ...TRUST, problems: [PROBLEM] }} onTrust={vi.fn()} onRevoke={vi.fn()} />)
  expect(screen.queryByRole('button', { name: 'Trust folder' })).toBeNull()
  expect(screen.queryByText(/lead/)).toBeNull()
  expect(screen.getByText('The settings file of this folder is invalid. Fix it first.')).toBeTruthy()
})
