/** Rules for names: a name says what it holds. */
import { listNodes, type Node, positionOf, type Source } from './sources'

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
    .flatMap(declaredNames)
    .filter((node) => isVague(String(node.name)))
    .map((node) => `${positionOf(source, node)} ${String(node.name)}`)
}

function declaredNames(node: Node): readonly Node[] {
  if (node.type === 'VariableDeclarator') return namesIn(node.id)
  const names = NAMED.has(node.type) ? namesIn(node.id) : []
  if (FUNCTIONS.has(node.type)) return [...names, ...(node.params as readonly unknown[]).flatMap(namesIn)]
  return MEMBERS.has(node.type) && node.computed !== true ? namesIn(node.key) : names
}

function namesIn(pattern: unknown): readonly Node[] {
  if (typeof pattern !== 'object' || pattern === null) return []
  const node = pattern as Node
  switch (node.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      return [node]
    case 'ObjectPattern':
      return (node.properties as readonly Node[]).flatMap((property) =>
        namesIn(property.type === 'RestElement' ? property.argument : property.value),
      )
    case 'ArrayPattern':
      return (node.elements as readonly unknown[]).flatMap(namesIn)
    case 'AssignmentPattern':
      return namesIn(node.left)
    case 'RestElement':
      return namesIn(node.argument)
    default:
      return []
  }
}
