import { expect, test } from 'vitest'
import { countCharacters, skipCharacters } from './characters'

test('characters are counted as on the server, not in UTF-16 units', () => {
  expect(countCharacters('')).toBe(0)
  expect(countCharacters('abc')).toBe(3)
  expect(countCharacters('a🎭b')).toBe(3)
  expect(countCharacters('日本語')).toBe(3)
})

test('a cut never splits a character', () => {
  expect(skipCharacters('a🎭b', 1)).toBe('🎭b')
  expect(skipCharacters('a🎭b', 2)).toBe('b')
  expect(skipCharacters('a🎭b', 9)).toBe('')
})
