import { expect, test } from 'vitest'
import { COMMANDS } from '../generated/contracts'
import { rewordHint } from './hints'

test('a hint for API clients is left out', () => {
  expect(Object.keys(COMMANDS).filter((name) => rewordHint(`Look again, then ${name} it.`) !== '')).toEqual(
    [],
  )
})

test('any other hint is unchanged', () => {
  for (const hint of ['Check the key of this provider.', 'Set api_key_env, or base_url.', 'Read it again.']) {
    expect(rewordHint(hint)).toBe(hint)
  }
})
