/** Names as the settings take them, and as the page tells one thing from another. */
import type { FoundModel, PastSessionFound } from '../generated/contracts'

/** A name of letters, digits and what may stand between them, made of one that a person reads. */
function plain(name: string): string {
  const kept = name
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return kept.slice(0, 48) || 'model'
}

/** That name, or the first with a number behind it that nobody has. */
function unusedName(name: string, taken: readonly string[]): string {
  const wanted = plain(name)
  if (!taken.includes(wanted)) return wanted
  for (let n = 2; ; n++) if (!taken.includes(`${wanted}-${n}`)) return `${wanted}-${n}`
}

/** What was found as an entry of `models`, under a name that nobody has; with that model where it offers several. */
export function entryOf(
  { entry = {} }: FoundModel,
  model: string,
  taken: readonly string[],
): Readonly<Record<string, string>> {
  return { ...entry, name: unusedName(entry.name ?? '', taken), ...(model === '' ? {} : { model }) }
}

/** What tells a past session of another product from all others. */
export function pastKey({ source, sourceId }: Pick<PastSessionFound, 'source' | 'sourceId'>): string {
  return `${source} ${sourceId}`
}
