/**
 * Import rules of the page: `app` may import everything, `features` only `ui` and `system`, `ui` only
 * `system`, `system` only itself. `surface-rules.ts` lists what a surface may import of `system`.
 */
import { posix } from 'node:path'
import { listNodes, type Node, type Source } from './sources'

const PARTS: Readonly<Record<string, readonly string[]>> = {
  system: ['system'],
  ui: ['ui', 'system'],
  features: ['features', 'ui', 'system'],
  app: ['app', 'features', 'ui', 'system'],
}

/**
 * Surfaces that are composed of other surfaces. Every other surface imports only itself and
 * `shared`.
 */
export const COMPOSED: Readonly<Record<string, readonly string[]>> = {
  board: ['job', 'task'],
  conversation: ['artifact', 'context', 'tool'],
  job: ['task'],
  run: ['tool'],
}

export interface Import {
  readonly from: string
  readonly to: string
}

/**
 * List all imports between sources, as paths below `src/` without extension. Type imports count.
 */
export function listImports(sources: readonly Source[]): readonly Import[] {
  const paths = new Set(sources.map(({ path }) => getModuleName(path)))
  return sources.flatMap((source) =>
    listNodes(source).flatMap((node) => {
      const name = getImportedName(node)
      const to = name === null ? null : resolve(source.path, name, paths)
      return to === null ? [] : [{ from: getModuleName(source.path), to }]
    }),
  )
}

/** List the imports that a rule forbids, as `from imports to`. */
export function findForbiddenImports(imports: readonly Import[]): readonly string[] {
  return imports.filter((each) => !isAllowed(each)).map(({ from, to }) => `${from} imports ${to}`)
}

/**
 * Find groups of nodes that import each other. `nodeOf` maps a path to its node: the file or its
 * folder.
 */
export function findCycles(imports: readonly Import[], getNode: (path: string) => string): readonly string[] {
  const targets = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    const [a, b] = [getNode(from), getNode(to)]
    if (a !== b) targets.set(a, (targets.get(a) ?? new Set()).add(b))
  }
  const reach = new Map([...targets.keys()].map((node) => [node, findReachable(targets, node)]))
  const inCycle = [...targets.keys()].filter((node) => reach.get(node)?.has(node))
  const group = (node: string) =>
    inCycle.filter((other) => reach.get(node)?.has(other) && reach.get(other)?.has(node))
  return [...new Set(inCycle.map((node) => group(node).sort().join(', ')))]
}

/** The folder of a path. A file directly in a part, such as `app/app`, is its own node. */
export function getFolder(path: string): string {
  const names = path.split('/')
  return names.length > 2 ? names.slice(0, 2).join('/') : path
}

function isAllowed({ from, to }: Import): boolean {
  const [part = '', folder = ''] = from.split('/')
  const [otherPart = '', otherFolder = ''] = to.split('/')
  if (!(PARTS[part]?.includes(otherPart) ?? true)) return false
  if (part !== 'features' || otherPart !== 'features') return true
  return (
    otherFolder === folder || otherFolder === 'shared' || (COMPOSED[folder]?.includes(otherFolder) ?? false)
  )
}

function getImportedName(node: Node): string | null {
  const isImport =
    /^(?:Import|ExportNamed|ExportAll)Declaration$/.test(node.type) || node.type === 'ImportExpression'
  const value = isImport ? (node.source as { readonly value?: unknown } | null)?.value : undefined
  return typeof value === 'string' ? value : null
}

function resolve(path: string, name: string, paths: ReadonlySet<string>): string | null {
  if (!name.startsWith('.') && !name.startsWith('@/')) return null
  const target = name.startsWith('@/') ? name.slice(2) : posix.join(posix.dirname(path), name)
  if (target.endsWith('.css')) return null
  return paths.has(target) ? target : posix.join(target, 'index')
}

function findReachable(
  targets: ReadonlyMap<string, ReadonlySet<string>>,
  start: string,
): ReadonlySet<string> {
  const reached = new Set<string>()
  const waiting = [...(targets.get(start) ?? [])]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (reached.has(node)) continue
    reached.add(node)
    waiting.push(...(targets.get(node) ?? []))
  }
  return reached
}

function getModuleName(path: string): string {
  return path.replace(/\.tsx?$/, '')
}
