import { markInvisible } from '@/system/format/exact-text'
import type { SettingsProblem, TrustRead } from '@/system/generated/contracts'
import { describeSettingsProblem } from './code-texts'
import { useT } from './surface'

const FOLDER_SETTINGS = '.callboard/settings.toml'

/** Whether the folder's settings file is invalid, so that its requests are unknown. */
export function isFolderInvalid(trust: TrustRead): boolean {
  return trust.problems.some((problem) => problem.file === FOLDER_SETTINGS)
}

/** A problem of a settings file: its position and text. */
export function SettingsProblemText({ problem }: { readonly problem: SettingsProblem }) {
  const t = useT()
  const text = describeSettingsProblem(t, problem.code, problem.params)
  const line = problem.params?.line
  const file = line === undefined ? problem.file : `${problem.file}:${line}`
  return (
    <>
      <span className="font-mono text-sm">{markInvisible(`${file} ${problem.field ?? ''}`.trim())}</span>{' '}
      {text ?? <span lang="en">{markInvisible(`${problem.message} ${problem.hint ?? ''}`.trim())}</span>}
    </>
  )
}
