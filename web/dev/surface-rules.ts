/**
 * What a surface may not do: reach a provider or a server, follow a stream, keep anything beyond the page's own look, hold
 * the state of a run, or answer for a person.
 */
import { posix } from 'node:path'
import { type Node, nodes, placeOf, type Source } from './sources'

/** What reaches a server, follows a stream or keeps something. biome.json forbids the same names as they are typed. */
export const FORBIDDEN_NAMES: ReadonlySet<string> = new Set([
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
  /^@\/system\/rows\/model$/,
  /^@\/system\/selectors\//,
  /^@\/system\/generated\//,
]

const LIBRARIES: Readonly<Record<'features' | 'ui', readonly string[]>> = {
  features: ['react', '@tanstack/react-virtual', '@xyflow/react', '@dagrejs/dagre', 'cmdk', 'cronstrue'],
  ui: ['react', 'radix-ui', 'react-markdown', 'rehype-sanitize', 'remark-gfm', 'react-diff-view'],
}

/** Callbacks that only ask for more of what is on record. The others tell what a person did, and need one. */
const READS = /^(?:onNeed[A-Z]\w*|onLoadOlder)$/
const EFFECTS = new Set(['useEffect', 'useLayoutEffect', 'useInsertionEffect', 'setTimeout', 'setInterval'])
/** Ways to press a button without a finger. */
const PRESSES = new Set(['click', 'submit', 'requestSubmit', 'dispatchEvent'])
const HOLDERS = new Set(['useState', 'useReducer', 'useRef'])
/** Fields of rows that say how a run stands. */
const RUN_FIELDS = new Set(['state', 'status', 'detail', 'outcome', 'pendingActions', 'paused', 'sequence'])
const ROWS = /^@\/system\/(?:rows|selectors)\//

/** Each offence of a source, as `path:line what`. */
export function offences(source: Source): readonly string[] {
  const room = source.path.startsWith('ui/') ? 'ui' : 'features'
  const all = nodes(source)
  const rowTypes = namesFromRows(all)
  const found: string[] = []
  for (const node of all) {
    const offence =
      wrongImport(source.path, room, node) ??
      wrongName(node) ??
      answersByItself(node) ??
      presses(node) ??
      holdsRun(node, rowTypes) ??
      (room === 'features' ? sharedState(node) : null)
    if (offence !== null) found.push(`${placeOf(source, node)} ${offence}`)
  }
  return found
}

function wrongImport(path: string, room: 'features' | 'ui', node: Node): string | null {
  if (node.type !== 'ImportDeclaration' && node.type !== 'ImportExpression') return null
  const from = node.source as Node & { readonly value?: unknown }
  if (typeof from.value !== 'string') return 'imports what is known only when it runs'
  const name = from.value
  if (node.importKind === 'type' && name.startsWith('@/system/')) return null
  if (name.startsWith('@/system/')) return PURE.some((pure) => pure.test(name)) ? null : `imports ${name}`
  if (name.startsWith('@/ui/')) return room === 'features' ? null : `imports ${name}`
  if (name.startsWith('.')) return leavesRoom(path, room, name) ? `imports ${name}` : null
  const known = LIBRARIES[room].some((library) => name === library || name.startsWith(`${library}/`))
  return known ? null : `imports ${name}`
}

function leavesRoom(path: string, room: 'features' | 'ui', name: string): boolean {
  return !posix.join(posix.dirname(path), name).startsWith(`${room}/`)
}

function wrongName(node: Node): string | null {
  if (node.type !== 'Identifier' || !FORBIDDEN_NAMES.has(String(node.name))) return null
  return `uses ${String(node.name)}`
}

/** An effect or a timer that calls what only a person may call. */
function answersByItself(node: Node): string | null {
  if (node.type !== 'CallExpression' || !EFFECTS.has(calledName(node) ?? '')) return null
  const first = (node.arguments as readonly Node[])[0]
  if (first === undefined) return null
  for (const inner of within(first)) {
    const name = inner.type === 'CallExpression' ? calledName(inner) : null
    if (name !== null && /^on[A-Z]/.test(name) && !READS.test(name)) return `calls ${name} by itself`
  }
  return null
}

function presses(node: Node): string | null {
  if (node.type !== 'CallExpression' || (node.callee as Node).type !== 'MemberExpression') return null
  const name = calledName(node)
  return name !== null && PRESSES.has(name) ? `presses by itself with ${name}` : null
}

/** Local state that is typed as a row, or that begins as a field that says how a run stands. */
function holdsRun(node: Node, rowTypes: ReadonlySet<string>): string | null {
  const name = node.type === 'CallExpression' ? calledName(node) : null
  if (name === null || !HOLDERS.has(name)) return null
  for (const inner of within(node)) {
    if (inner.type === 'TSTypeReference') {
      const type = String((inner.typeName as Node).name)
      if (rowTypes.has(type)) return `keeps a ${type} in ${name}`
    }
    if (inner.type === 'MemberExpression') {
      const field = String((inner.property as Node).name)
      if (RUN_FIELDS.has(field)) return `keeps ${field} in ${name}`
    }
  }
  return null
}

/** A module's variable outlives the surface and is shared by all that show it. */
function sharedState(node: Node): string | null {
  if (node.type !== 'Program') return null
  const body = node.body as readonly Node[]
  const variable = body.some(
    (statement) => statement.type === 'VariableDeclaration' && statement.kind !== 'const',
  )
  return variable ? 'keeps a variable of the module' : null
}

function namesFromRows(all: readonly Node[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const node of all) {
    if (node.type !== 'ImportDeclaration') continue
    if (!ROWS.test(String((node.source as { value?: unknown }).value))) continue
    for (const specifier of node.specifiers as readonly Node[])
      names.add(String((specifier.local as Node).name))
  }
  return names
}

function calledName(call: Node): string | null {
  const callee = call.callee as Node
  const named = callee.type === 'MemberExpression' ? (callee.property as Node) : callee
  return named.type === 'Identifier' ? String(named.name) : null
}

function* within(root: Node): Generator<Node> {
  const waiting: unknown[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...value.filter((child) => child !== undefined && child !== null))
    else if (typeof value === 'object' && value !== null) {
      if ('type' in value && typeof value.type === 'string') yield value as Node
      waiting.push(...Object.values(value).filter((child) => typeof child === 'object' && child !== null))
    }
  }
}
