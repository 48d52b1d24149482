import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show } from '../../../dev/surfaces'
import { Diagnostics } from './diagnostics'

const SYSTEM = [['Version', '1.2.3']] as const

test('the timings are one click away, and not shown before (UI-32)', async () => {
  const timings = [{ name: 'text', count: 2, last: 850, typical: 420, worst: 2_340 }] as const
  show(<Diagnostics timings={timings} system={SYSTEM} />)
  expect(screen.queryByRole('table')).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Diagnostics' }))
  const row = await screen.findByRole('row', { name: /Send to first text/ })
  expect(row.textContent).toBe('Send to first text850ms420ms2.3s')
  expect(screen.getByText('1.2.3')).toBeTruthy()
})

test('a missing sample is not shown as zero (UI-26)', async () => {
  show(<Diagnostics timings={[]} system={SYSTEM} />)
  await userEvent.click(screen.getByRole('button', { name: 'Diagnostics' }))
  expect(await screen.findByText('No measurements yet.')).toBeTruthy()
  expect(screen.queryByRole('table')).toBeNull()
})
