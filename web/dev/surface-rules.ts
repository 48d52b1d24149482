/**
 * Rules for surfaces: no access to a provider or server, no stream, no storage, no state of a run, no
 * automatic answer.
 */
import { posix } from 'node:path'
import { formatPosition, listNodes, type Node, type Source } from './sources'

/**
 * Globals that reach a server, follow a stream or store data. biome.json forbids the same names in
 * the editor.
 */
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

/** Pure modules of `system/`. Of all other modules, a surface may import only types. */
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

/** Callbacks that only request data. All others report an action of the person, and require one. */
const READS = /^(?:onNeed[A-Z]\w*|onLoadOlder)$/
const EFFECTS = new Set(['useEffect', 'useLayoutEffect', 'useInsertionEffect', 'setTimeout', 'setInterval'])
/** Methods that trigger a button from code. */
const PRESSES = new Set(['click', 'submit', 'requestSubmit', 'dispatchEvent'])
const HOLDERS = new Set(['useState', 'useReducer', 'useRef'])
/** Row fields with the state of a run. */
const RUN_FIELDS = new Set(['state', 'status', 'detail', 'outcome', 'pendingActions', 'paused', 'sequence'])
const ROWS = /^@\/system\/(?:rows|selectors)\//

/** List the offences of a source, as `path:line what`. */
export function findOffences(source: Source): readonly string[] {
  const part = source.path.startsWith('ui/') ? 'ui' : 'features'
  const all = listNodes(source)
  const rowTypes = listRowTypeNames(all)
  const lines: string[] = []
  for (const node of all) {
    const offence =
      findForbiddenImport(source.path, part, node) ??
      findForbiddenName(node) ??
      findAutomaticAnswer(node) ??
      findPress(node) ??
      findRunState(node, rowTypes) ??
      (part === 'features' ? findSharedState(node) : null)
    if (offence !== null) lines.push(`${formatPosition(source, node)} ${offence}`)
  }
  return lines
}

function findForbiddenImport(path: string, part: 'features' | 'ui', node: Node): string | null {
  if (node.type !== 'ImportDeclaration' && node.type !== 'ImportExpression') return null
  const from = node.source as Node & { readonly value?: unknown }
  if (typeof from.value !== 'string') return 'imports a name computed at run time'
  const name = from.value
  if (node.importKind === 'type' && name.startsWith('@/system/')) return null
  if (name.startsWith('@/system/')) return PURE.some((pure) => pure.test(name)) ? null : `imports ${name}`
  if (name.startsWith('@/ui/')) return part === 'features' ? null : `imports ${name}`
  if (name.startsWith('.')) return leavesPart(path, part, name) ? `imports ${name}` : null
  const isLibrary = LIBRARIES[part].some((library) => name === library || name.startsWith(`${library}/`))
  return isLibrary ? null : `imports ${name}`
}

function leavesPart(path: string, part: 'features' | 'ui', name: string): boolean {
  return !posix.join(posix.dirname(path), name).startsWith(`${part}/`)
}

function findForbiddenName(node: Node): string | null {
  if (node.type !== 'Identifier' || !FORBIDDEN_NAMES.has(String(node.name))) return null
  return `uses ${String(node.name)}`
}

/** An effect or timer that calls a callback reserved for the person. */
function findAutomaticAnswer(node: Node): string | null {
  if (node.type !== 'CallExpression' || !EFFECTS.has(getCalledName(node) ?? '')) return null
  const first = (node.arguments as readonly Node[])[0]
  if (first === undefined) return null
  for (const inner of walkDescendants(first)) {
    const name = inner.type === 'CallExpression' ? getCalledName(inner) : null
    if (name !== null && /^on[A-Z]/.test(name) && !READS.test(name)) return `calls ${name} without the person`
  }
  return null
}

function findPress(node: Node): string | null {
  if (node.type !== 'CallExpression' || (node.callee as Node).type !== 'MemberExpression') return null
  const name = getCalledName(node)
  return name !== null && PRESSES.has(name) ? `presses without the person, with ${name}` : null
}

/** Local state that is typed as a row, or initialised from a field with the state of a run. */
function findRunState(node: Node, rowTypes: ReadonlySet<string>): string | null {
  const name = node.type === 'CallExpression' ? getCalledName(node) : null
  if (name === null || !HOLDERS.has(name)) return null
  for (const inner of walkDescendants(node)) {
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

/** A module variable, which outlives the surface and is shared by all its instances. */
function findSharedState(node: Node): string | null {
  if (node.type !== 'Program') return null
  const body = node.body as readonly Node[]
  const variable = body.some(
    (statement) => statement.type === 'VariableDeclaration' && statement.kind !== 'const',
  )
  return variable ? 'keeps a variable of the module' : null
}

function listRowTypeNames(all: readonly Node[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const node of all) {
    if (node.type !== 'ImportDeclaration') continue
    if (!ROWS.test(String((node.source as { value?: unknown }).value))) continue
    for (const specifier of node.specifiers as readonly Node[])
      names.add(String((specifier.local as Node).name))
  }
  return names
}

function getCalledName(call: Node): string | null {
  const callee = call.callee as Node
  const target = callee.type === 'MemberExpression' ? (callee.property as Node) : callee
  return target.type === 'Identifier' ? String(target.name) : null
}

function* walkDescendants(root: Node): Generator<Node> {
  const waiting: unknown[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...value.filter((child) => child !== undefined && child !== null))
    else if (typeof value === 'object' && value !== null) {
      if ('type' in value && typeof value.type === 'string') yield value as Node
      waiting.push(...Object.values(value).filter((child) => typeof child === 'object' && child !== null))
    }
  }
}
