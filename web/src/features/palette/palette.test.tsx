import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { CHINESE, ENGLISH, NO_BLOBS, show } from '../../../dev/surfaces'
import Palette, { type PaletteCommand } from './palette'

const buildCommand = (id: string, group: PaletteCommand['group'], label: string): PaletteCommand => ({
  id,
  group,
  label,
  icon: 'plus',
  perform: () => {},
})

function showPalette(t = ENGLISH) {
  const commands = [
    buildCommand('pin', 'session', 'Pin'),
    buildCommand('job', 'session', t('team.new_job')),
    buildCommand('ses_01jobjob', 'sessions', 'Mend the parser'),
    buildCommand('ses_02', 'sessions', 'Nightly reading'),
  ]
  show(<Palette commands={commands} onRun={() => {}} onClose={() => {}} />, NO_BLOBS, t)
  return { type: (text: string) => userEvent.type(screen.getByRole('combobox', { hidden: true }), text) }
}

const readOptions = () =>
  screen.queryAllByRole('option', { hidden: true }).map((option) => option.textContent)

test('a command is found by a word of its label, a session by its title but not by its id', async () => {
  const { type } = showPalette()
  expect(readOptions()).toHaveLength(4)
  await type('job')
  expect(readOptions()).toEqual(['New job'])
  expect(screen.getByRole('option', { hidden: true }).getAttribute('aria-selected')).toBe('true')
  await type('{Backspace}{Backspace}{Backspace}night')
  expect(readOptions()).toEqual(['Nightly reading'])
})

test('a command is found by its English name in any language', async () => {
  const { type } = showPalette(CHINESE)
  await type('job')
  expect(readOptions()).toEqual([CHINESE('team.new_job')])
})
