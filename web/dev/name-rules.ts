/** Rules for names: a name says what it holds, and a function begins with a verb. */
import words from './avoided-words.json'
import { formatPosition, listNodes, type Node, type Source } from './sources'

const VAGUE: ReadonlySet<string> = new Set(words.names)

/** First words of functions and methods: verbs, and verbs of predicates. Add one that is missing. */
const VERBS: ReadonlySet<string> = new Set(
  `
  add answer append apply approve ask attempt await begin begins build can capture change check
  choose classify clear close compare complete compute confirm connect count create deliver
  describe detect disconnect dismiss drop emit encode enqueue escape explain export fill filter
  find fold follow forget format get group handle has hear hide import is join keep label lay
  list load look mark measure merge move name needs number observe omit open parse put query
  rank read reconcile reconnect record redeem refresh remove render renew replace request resend
  resolve restart restore resume retry revoke reword rollback run save scroll search select send
  serialize set settle shorten show sign skip sleep sort split start stop store strip sum
  summarize test toggle touch track trust try unobserve update upload upsert use validate wait
  waits wake was watch wrap write
  `.match(/\w+/g),
)

const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'TSEmptyBodyFunctionExpression',
])
const NAMED: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'ClassDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
])
const MEMBERS: ReadonlySet<string> = new Set([
  'PropertyDefinition',
  'MethodDefinition',
  'TSPropertySignature',
])

export function isVague(name: string): boolean {
  return VAGUE.has(name.toLowerCase())
}

/** List the vague names that a source declares, as `path:line name`. */
export function findVagueNames(source: Source): readonly string[] {
  return listNodes(source)
    .flatMap(listDeclaredNames)
    .filter((node) => isVague(String(node.name)))
    .map((node) => `${formatPosition(source, node)} ${String(node.name)}`)
}

/** List the functions and methods that do not begin with a verb, as `path:line name`. */
export function findNounFunctions(source: Source): readonly string[] {
  return listNodes(source)
    .filter((node) => node.type === 'FunctionDeclaration' || isMethod(node))
    .flatMap((node) => listNames(node.type === 'FunctionDeclaration' ? node.id : node.key))
    .filter((node) => !/^[A-Z]/.test(String(node.name)) && !VERBS.has(getFirstWord(String(node.name))))
    .map((node) => `${formatPosition(source, node)} ${String(node.name)}`)
}

function isMethod({ type, kind }: Node): boolean {
  return type === 'MethodDefinition' && kind === 'method'
}

function getFirstWord(name: string): string {
  return /^[a-z]*/.exec(name)?.[0] ?? ''
}

function listDeclaredNames(node: Node): readonly Node[] {
  if (node.type === 'VariableDeclarator') return listNames(node.id)
  const names = NAMED.has(node.type) ? listNames(node.id) : []
  if (FUNCTIONS.has(node.type)) return [...names, ...(node.params as readonly unknown[]).flatMap(listNames)]
  return MEMBERS.has(node.type) && node.computed !== true ? listNames(node.key) : names
}

function listNames(pattern: unknown): readonly Node[] {
  if (typeof pattern !== 'object' || pattern === null) return []
  const node = pattern as Node
  switch (node.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      return [node]
    case 'ObjectPattern':
      return (node.properties as readonly Node[]).flatMap((property) =>
        listNames(property.type === 'RestElement' ? property.argument : property.value),
      )
    case 'ArrayPattern':
      return (node.elements as readonly unknown[]).flatMap(listNames)
    case 'AssignmentPattern':
      return listNames(node.left)
    case 'RestElement':
      return listNames(node.argument)
    default:
      return []
  }
}
