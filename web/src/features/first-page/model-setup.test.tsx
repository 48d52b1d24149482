import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { show } from '../../../dev/surfaces'
import { ModelSetup } from './model-setup'

test('the connected model is shown once', () => {
  const models = [
    { provider: 'lm-studio', name: 'qwen3', label: 'lm-studio · qwen3' },
    { provider: 'anthropic', name: 'claude-sonnet-5-5', label: 'Claude Sonnet 5.5' },
  ]
  show(
    <ModelSetup models={models as never} list={null} tested={{}} onConnect={vi.fn()} onSettings={vi.fn()} />,
  )
  expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
    'lm-studio · qwen3',
    'Claude Sonnet 5.5anthropic',
  ])
})

test('a model that failed its test is not shown as connected', () => {
  const models = [
    { provider: 'a', name: 'x', label: 'a · x' },
    { provider: 'b', name: 'y', label: 'b · y' },
  ]
  const tested = {
    'a/x': { name: 'a/x', ok: false },
    'b/y': { name: 'b/y', ok: true },
  }
  const { container } = show(
    <ModelSetup
      models={models as never}
      list={null}
      tested={tested as never}
      onConnect={vi.fn()}
      onSettings={vi.fn()}
    />,
  )
  expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
    'a · xTest failed.',
    'b · y',
  ])
  expect(
    [...container.querySelectorAll('.rounded-full')].map((dot) => dot.className.match(/bg-\w+/)?.[0]),
  ).toEqual(['bg-bad', 'bg-good'])
})
