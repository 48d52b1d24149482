/** Rules for names: a name says what it holds. */
import { formatPosition, listNodes, type Node, type Source } from './sources'

const VAGUE: ReadonlySet<string> = new Set([
  'told',
  'said',
  'given',
  'known',
  'shown',
  'giving',
  'telling',
  'one',
  'found',
  'desk',
  'veil',
  'kin',
])

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
