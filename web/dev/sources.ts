/** The page's sources, parsed, for tests of code rules. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseSync } from 'vite'

export interface Node {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

export interface Source {
  /** The path below `src/`. */
  readonly path: string
  readonly text: string
}

const ROOT = new URL('../src', import.meta.url).pathname

/** Sources below a folder of `src/`, without tests and generated files. */
export function readSources(folder: string): readonly Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/generated/'))
    .map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, 'utf8') }))
}

/** All nodes of a source, in no particular order. */
export function listNodes({ path, text }: Source): readonly Node[] {
  const all: Node[] = []
  const waiting: unknown[] = [parseSync(path, text).program]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) waiting.push(...value.filter((child) => child !== undefined))
    else if (isNode(value)) {
      all.push(value)
      waiting.push(...Object.values(value).filter((child) => child !== undefined))
    }
  }
  return all
}

/** The position of a node, as `path:line`. */
export function formatPosition(source: Source, node: Node): string {
  return `${source.path}:${source.text.slice(0, node.start).split('\n').length}`
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
