/**
 * The surfaces are importable: state, callbacks and labels come in; no provider call, no stream, no automatic answer and
 * no state of a run is theirs.
 */
import { expect, test } from 'vitest'
import { type Node, nodes, placeOf, type Source, sources } from '../dev/sources'

/** What reaches a server or keeps something beyond the page's own look. */
const FORBIDDEN_NAMES = new Set([
  'fetch',
  'XMLHttpRequest',
  'EventSource',
  'WebSocket',
  'BroadcastChannel',
  'Worker',
  'SharedWorker',
  'sendBeacon',
  'localStorage',
  'sessionStorage',
  'indexedDB',
  'eval',
  'Function',
])

/** Modules of `system/` that are functions of their arguments. Anything else a surface may know by type only. */
const PURE = [
  /^@\/system\/format\//,
  /^@\/system\/rows\/(?:activity|conversation|model)$/,
  /^@\/system\/generated\//,
]

const LIBRARIES: Readonly<Record<'features' | 'ui', readonly string[]>> = {
  features: ['react', '@tanstack/react-virtual', 'cmdk'],
  ui: ['react', 'radix-ui', 'react-markdown', 'rehype-sanitize', 'remark-gfm', 'react-diff-view'],
}

function offences(source: Source): string[] {
  const room = source.path.startsWith('ui/') ? 'ui' : 'features'
  const found: string[] = []
  for (const node of nodes(source)) {
    const offence = wrongImport(room, node) ?? wrongName(node)
    if (offence !== null) found.push(`${placeOf(source, node)} ${offence}`)
  }
  return found
}

function wrongImport(room: 'features' | 'ui', node: Node): string | null {
  if (node.type !== 'ImportDeclaration' && node.type !== 'ImportExpression') return null
  const name = (node.source as { value: string }).value
  if (node.importKind === 'type' && name.startsWith('@/system/')) return null
  if (name.startsWith('@/system/')) return PURE.some((pure) => pure.test(name)) ? null : `imports ${name}`
  if (name.startsWith('@/ui/')) return room === 'features' ? null : `imports ${name}`
  if (name.startsWith('.')) return leavesRoom(room, name) ? `imports ${name}` : null
  const known = LIBRARIES[room].some((library) => name === library || name.startsWith(`${library}/`))
  return known ? null : `imports ${name}`
}

function leavesRoom(room: 'features' | 'ui', name: string): boolean {
  return room === 'ui' ? name.startsWith('../') : name.startsWith('../../')
}

function wrongName(node: Node): string | null {
  if (node.type !== 'Identifier' || !FORBIDDEN_NAMES.has(String(node.name))) return null
  return `uses ${String(node.name)}`
}

test('surfaces and primitives fetch nothing, subscribe to nothing and store nothing', () => {
  const all = [...sources('features'), ...sources('ui')]
  expect(all.length).toBeGreaterThan(30)
  expect(all.flatMap(offences)).toEqual([])
})

test('the check finds what it is for', () => {
  const bad = (text: string) => offences({ path: 'features/x/x.tsx', text })
  expect(bad("const a = await fetch('/api')")).toEqual(['features/x/x.tsx:1 uses fetch'])
  expect(bad("const s = new EventSource('/ops')")).toEqual(['features/x/x.tsx:1 uses EventSource'])
  expect(bad("import { ApiClient } from '@/system/api/client'")).toEqual([
    'features/x/x.tsx:1 imports @/system/api/client',
  ])
  expect(bad("import type { Meta } from '@/system/api/client'")).toEqual([])
  expect(bad("import { useServices } from '@/app/services-context'")).toEqual([
    'features/x/x.tsx:1 imports @/app/services-context',
  ])
  expect(bad("import { create } from 'zustand'")).toEqual(['features/x/x.tsx:1 imports zustand'])
  expect(bad("const m = import('@/system/stream/subscription')")).toEqual([
    'features/x/x.tsx:1 imports @/system/stream/subscription',
  ])
})

test('the system knows no React', () => {
  const react = sources('system').flatMap((source) =>
    nodes(source)
      .filter((node) => node.type === 'ImportDeclaration')
      .map((node) => (node.source as { value: string }).value)
      .filter((name) => !name.startsWith('.'))
      .map((name) => `${source.path} imports ${name}`),
  )
  expect(react).toEqual([])
})
