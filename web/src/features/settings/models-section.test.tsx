import { screen, within } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import type { ConfiguredModel } from '@/system/generated/contracts'
import type { SettingsView } from '@/system/stores/settings-store'
import { CHINESE, NO_BLOBS, show } from '../../../dev/surfaces'
import { ModelsSection } from './models-section'
import type { SettingsHandlers } from './settings-section'

const OFFLINE: ConfiguredModel = {
  name: 'offline/search, no model',
  provider: 'offline',
  model: 'search, no model',
  kind: 'offline',
  label: 'search, no model',
  usable: true,
  images: false,
  why: 'No model is configured: this is the offline search.',
  default: true,
}
const QWEN: ConfiguredModel = {
  ...OFFLINE,
  name: 'qwen/qwen3',
  provider: 'qwen',
  model: 'qwen3',
  kind: 'openai-compatible',
  label: 'qwen3',
  why: '',
}

function showSection(configured: readonly ConfiguredModel[]) {
  const view = { models: { configured, found: [] }, read: null, tested: {}, noKeyring: '' }
  const handlers = { onWrite: vi.fn() }
  show(
    <ModelsSection
      view={view as unknown as SettingsView}
      handlers={handlers as unknown as SettingsHandlers}
    />,
    NO_BLOBS,
    CHINESE,
  )
  return screen.getByRole('list', { name: '已连接的模型' })
}

test('without a model none is listed as connected, and the text is in the language of the page', () => {
  expect(within(showSection([OFFLINE])).queryAllByRole('listitem')).toEqual([])
  expect(screen.getByText('未连接模型。回答来自对文件夹的搜索。')).toBeTruthy()
  expect(document.body.textContent).not.toContain('no model')
})

test('a connected model is listed, with a test', () => {
  expect(within(showSection([QWEN])).getByText('qwen/qwen3')).toBeTruthy()
  expect(screen.queryByText('未连接模型。回答来自对文件夹的搜索。')).toBeNull()
})
