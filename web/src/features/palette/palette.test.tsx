import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { CHINESE, ENGLISH, NO_BLOBS, show } from '../../../dev/surfaces'
import Palette, { type PaletteCommand } from './palette'

const command = (id: string, group: PaletteCommand['group'], label: string): PaletteCommand => ({
  id,
  group,
  label,
  icon: 'plus',
  perform: () => {},
})

function palette(t = ENGLISH) {
  const commands = [
    command('pin', 'session', 'Pin'),
    command('job', 'session', t('team.new_job')),
    command('ses_01jobjob', 'sessions', 'Mend the parser'),
    command('ses_02', 'sessions', 'Nightly reading'),
  ]
  show(<Palette commands={commands} onRun={() => {}} onClose={() => {}} />, NO_BLOBS, t)
  return { type: (text: string) => userEvent.type(screen.getByRole('combobox', { hidden: true }), text) }
}

const options = () => screen.queryAllByRole('option', { hidden: true }).map((option) => option.textContent)

test('a command is found by a word of its label, a session by its title but not by its id', async () => {
  const { type } = palette()
  expect(options()).toHaveLength(4)
  await type('job')
  expect(options()).toEqual(['New job'])
  expect(screen.getByRole('option', { hidden: true }).getAttribute('aria-selected')).toBe('true')
  await type('{Backspace}{Backspace}{Backspace}night')
  expect(options()).toEqual(['Nightly reading'])
})

test('a command is found by its English name in any language', async () => {
  const { type } = palette(CHINESE)
  await type('job')
  expect(options()).toEqual([CHINESE('team.new_job')])
})
