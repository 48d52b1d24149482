import { screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { show } from '../../../dev/surfaces'
import { Models } from './models'

test('a model is told with who answers, and with that once only', () => {
  const models = [
    { provider: 'lm-studio', name: 'qwen3', label: 'lm-studio · qwen3' },
    { provider: 'anthropic', name: 'claude-sonnet-5-5', label: 'Claude Sonnet 5.5' },
  ]
  show(<Models models={models as never} list={null} onConnect={vi.fn()} onSettings={vi.fn()} />)
  expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual([
    'lm-studio · qwen3',
    'Claude Sonnet 5.5anthropic',
  ])
})
