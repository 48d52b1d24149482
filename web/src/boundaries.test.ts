/**
 * Surfaces can be imported by another host: state, callbacks and labels come in. They have no provider
 * call, no stream, no automatic answer and no state of a run.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { COMPOSED, findCycles, findForbiddenImports, getFolder, listImports } from '../dev/import-rules'
import { findNounFunctions, findVagueNames } from '../dev/name-rules'
import { listNodes, type Node, readSources } from '../dev/sources'
import { findOffences } from '../dev/surface-rules'

const ROOT = new URL('..', import.meta.url).pathname

test('surfaces and primitives do not fetch, subscribe, answer or store a run', () => {
  const all = [...readSources('features'), ...readSources('ui')]
  expect(all.length).toBeGreaterThan(30)
  expect(all.flatMap(findOffences)).toEqual([])
})

const OFFENCES: readonly (readonly [text: string, offence: string])[] = [
  ["const a = await fetch('/api')", 'uses fetch'],
  ["const s = new EventSource('/ops')", 'uses EventSource'],
  ["const w = new WebSocket('wss://x')", 'uses WebSocket'],
  ["window.localStorage.setItem('facts', '')", 'uses localStorage'],
  ["import { ApiClient } from '@/system/api/client'", 'imports @/system/api/client'],
  ["import { useServices } from '@/app/services-context'", 'imports @/app/services-context'],
  ["import { create } from 'zustand'", 'imports zustand'],
  ["import OpenAI from 'openai'", 'imports openai'],
  ["const m = import('@/system/stream/subscription')", 'imports @/system/stream/subscription'],
  ['const m = import(name)', 'imports a name computed at run time'],
  ["useEffect(() => { props.onAnswer({ decision: 'approve' }) }, [])", 'calls onAnswer without the person'],
  ["setTimeout(() => onSend('go on', 'start'), 100)", 'calls onSend without the person'],
  ['button.current?.click()', 'presses without the person, with click'],
  [
    "import type { TurnRow } from '@/system/rows/model'; const [t] = useState<TurnRow | null>(null)",
    'keeps a TurnRow in useState',
  ],
  ['const [state] = useState(props.turn.state)', 'keeps state in useState'],
  ['let cache = 0', 'keeps a variable of the module'],
]

test.each(OFFENCES)('the check finds %s', (text, offence) => {
  expect(findOffences({ path: 'features/x/x.tsx', text })).toEqual([`features/x/x.tsx:1 ${offence}`])
})

test('the check accepts what surfaces may do', () => {
  const good = [
    "import type { Meta } from '@/system/api/client'",
    'const [open, setOpen] = useState(false)',
    'useEffect(() => { onNeedParts(turnId) }, [turnId])',
    "const b = <button onClick={() => props.onAnswer({ decision: 'approve' })} />",
  ]
  expect(good.flatMap((text) => findOffences({ path: 'features/x/x.tsx', text }))).toEqual([])
})

const PLANTED: Readonly<Record<string, string>> = {
  'src/features/x/a.ts': "export const taken = fetch('/api')\n",
  'src/features/x/b.ts': "export { useServices } from '@/app/services-context'\n",
  'src/features/x/c.ts': 'export const shown = 1\n',
  'src/ui/d.ts': 'export const kept = localStorage\n',
  'src/system/e.ts': "export const taken = fetch('/api')\n",
}

test('the linter forbids the same in surfaces, and only there', () => {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')
  const folder = mkdtempSync(join(tmpdir(), 'callboard-lint-'))
  try {
    cpSync(`${ROOT}biome.json`, join(folder, 'biome.json'))
    for (const [path, text] of Object.entries(PLANTED)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const { stdout, stderr, status } = spawnSync(process.execPath, [biome, 'lint', '.'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const reported = [...`${stdout}${stderr}`.matchAll(/(src\S+?):\d+:\d+ lint\/style\/noRestricted/g)]
    expect(reported.map(([, path]) => path).sort()).toEqual([
      'src/features/x/a.ts',
      'src/features/x/b.ts',
      'src/ui/d.ts',
    ])
    expect(status).not.toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('another host imports only the surfaces', () => {
  const text = readFileSync(`${ROOT}host/host.tsx`, 'utf8')
  expect(listForbiddenImports({ path: 'host/host.tsx', text })).toEqual(['callboard-web/surfaces', 'react'])
})

test('the system imports no library but the event stream parser, and no React', () => {
  const libraries = readSources('system').flatMap((source) =>
    listForbiddenImports(source)
      .filter((name) => !name.startsWith('.') && name !== 'eventsource-parser')
      .map((name) => `${source.path} imports ${name}`),
  )
  expect(libraries).toEqual([])
})

const PARTS = ['system', 'ui', 'features', 'app'] as const

test('the system imports no surface, and a surface only itself, `shared` and its parts', () => {
  const all = listImports(PARTS.flatMap(readSources))
  expect(all.length).toBeGreaterThan(500)
  expect(findForbiddenImports(all)).toEqual([])
  const composed = Object.entries(COMPOSED).flatMap(([folder, parts]) => parts.map((part) => [folder, part]))
  const unused = composed.filter(([folder, part]) => {
    return !all.some(
      ({ from, to }) => from.startsWith(`features/${folder}/`) && to.startsWith(`features/${part}/`),
    )
  })
  expect(unused).toEqual([])
})

test('no two files and no two folders import each other, types included', () => {
  const all = listImports(PARTS.flatMap(readSources))
  expect(findCycles(all, (path) => path)).toEqual([])
  expect(findCycles(all, getFolder)).toEqual([])
})

test('no folder has more than 20 files, and no file more than 400 lines', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const counts = new Map<string, number>()
  for (const { parentPath } of files) counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1)
  expect([...counts].filter(([, count]) => count > 20)).toEqual([])
  const written = files.filter(
    ({ parentPath, name }) => /\.tsx?$/.test(name) && !parentPath.endsWith('/generated'),
  )
  const paths = written.map(({ parentPath, name }) => join(parentPath, name))
  expect(paths.filter((path) => readFileSync(path, 'utf8').split('\n').length > 401)).toEqual([])
})

test('a name says what it holds', () => {
  expect(PARTS.flatMap(readSources).flatMap(findVagueNames)).toEqual([])
})

const VAGUE: readonly (readonly [text: string, name: string])[] = [
  ['const told = 1', 'told'],
  ['const { a: given } = b', 'given'],
  ['list.map((one) => one.id)', 'one'],
  ['function found() {}', 'found'],
  ['class Desk {}', 'Desk'],
  ['interface A { readonly shown: string }', 'shown'],
  ['class A { #known = 1 }', 'known'],
  ['function f({ a = 1, ...said }: B) {}', 'said'],
]

test.each(VAGUE)('the check finds the name in %s', (text, name) => {
  expect(findVagueNames({ path: 'ui/x.ts', text })).toEqual([`ui/x.ts:1 ${name}`])
})

test('functions and methods begin with a verb', () => {
  expect(PARTS.flatMap(readSources).flatMap(findNounFunctions)).toEqual([])
  const text = 'function modeText() {}\nfunction Mode() {}\nclass A { #scope() {} get size() {} load() {} }'
  expect(findNounFunctions({ path: 'ui/x.ts', text }).toSorted()).toEqual([
    'ui/x.ts:1 modeText',
    'ui/x.ts:3 scope',
  ])
})

test('the check finds forbidden imports and cycles', () => {
  const planted = listImports([
    { path: 'system/rows/a.ts', text: "import type { B } from '../../features/task/b'" },
    { path: 'features/task/b.tsx', text: "import { c } from '../job/c'\nimport { d } from '@/app/team/d'" },
    { path: 'features/job/c.tsx', text: "export { b } from '../task/b'" },
    { path: 'app/team/d.ts', text: "const a = await import('../../system/rows/a')" },
  ])
  expect([...findForbiddenImports(planted)].sort()).toEqual([
    'features/task/b imports app/team/d',
    'features/task/b imports features/job/c',
    'system/rows/a imports features/task/b',
  ])
  const cycle = 'app/team/d, features/job/c, features/task/b, system/rows/a'
  expect(findCycles(planted, (path) => path)).toEqual([cycle])
  expect(findCycles(planted, getFolder)).toEqual(['app/team, features/job, features/task, system/rows'])
})

function listForbiddenImports(source: { readonly path: string; readonly text: string }): readonly string[] {
  const declared = listNodes(source).filter((node: Node) => node.type === 'ImportDeclaration')
  return declared.map((node) => (node.source as { value: string }).value).sort()
}
