import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test, vi } from 'vitest'
import type { ProcessRow } from '@/system/rows/model'
import { fillAs, show } from '../../../dev/surfaces'
import { ToolsPanel, type ToolsPanelProps } from './tools-panel'

const process = fillAs('processes', {
  kind: 'process',
  key: 'prc_a',
  order: 1,
  sequence: 1,
  processId: 'prc_a',
  threadId: 'thr_a',
  agentId: 'agt_a',
  turnId: 'trn_a',
  toolCallId: 'cal_a',
  state: 'running',
  command: { text: 'make watch' },
  startedAt: 1,
}) as ProcessRow

function showPanel(props: Partial<ToolsPanelProps>) {
  const onWrite = vi.fn(async () => true)
  const onTerminate = vi.fn()
  const onNeedTools = vi.fn()
  show(
    <ToolsPanel
      read={null}
      processes={[]}
      handlers={{ onWrite, onTerminate }}
      onNeedTools={onNeedTools}
      onReconnect={vi.fn()}
      {...props}
    />,
  )
  return { onWrite, onTerminate, onNeedTools }
}

test('each tool shows whether it is available, and if not, why', () => {
  const { onNeedTools } = showPanel({
    read: {
      state: 'read',
      inventory: {
        agent: 'solo',
        tools: [
          { name: 'Read', source: 'folder', availability: 'loaded', readOnly: true },
          { name: 'search', source: 'mcp:search', availability: 'blocked', reason: 'Its server is lost.' },
          { name: 'Write', source: 'folder', availability: 'excluded', reason: 'Not in its list.' },
        ],
        servers: [{ name: 'search', transport: 'http', condition: 'lost', message: 'It ended with 1.' }],
      },
    },
  })
  expect(onNeedTools).toHaveBeenCalledOnce()
  expect(screen.getByText('Read-only')).toBeTruthy()
  expect(screen.getByText('Its server is lost.')).toBeTruthy()
  expect(screen.getByText('It ended with 1.')).toBeTruthy()
  expect(screen.getByRole('button', { name: '1 excluded' })).toBeTruthy()
})

test('a background process accepts a line of input and has a stop button', async () => {
  const { onWrite, onTerminate } = showPanel({ processes: [process] })
  const list = within(screen.getByRole('list', { name: 'Background processes' }))
  await userEvent.type(list.getByRole('textbox', { name: 'Input for make watch' }), 'go{Enter}')
  expect(onWrite.mock.calls).toEqual([['prc_a', 'go\n', false]])
  await userEvent.click(list.getByRole('button', { name: 'Terminate make watch' }))
  expect(onTerminate).toHaveBeenCalledExactlyOnceWith('prc_a')
})

test('an ended process accepts no input', () => {
  showPanel({ processes: [{ ...process, state: 'exited', exitCode: 0 }] })
  expect(screen.queryByRole('textbox')).toBeNull()
  expect(screen.getByText('Exited')).toBeTruthy()
})
