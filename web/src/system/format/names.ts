/** Names for settings entries, and keys of past sessions. */
import type { DetectedSource, PastSessionEntry } from '../generated/contracts'

/** Turn a display name into a valid settings name. */
function formatName(name: string): string {
  const cleaned = name
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return cleaned.slice(0, 48) || 'model'
}

/** Return the name, or the first unused name with a number appended. */
function findUnusedName(name: string, usedNames: readonly string[]): string {
  const preferred = formatName(name)
  if (!usedNames.includes(preferred)) return preferred
  for (let n = 2; ; n++) if (!usedNames.includes(`${preferred}-${n}`)) return `${preferred}-${n}`
}

/**
 * Build an entry of `models` for a detected provider, under an unused name. `model` selects one of
 * several.
 */
export function buildModelEntry(
  { entry = {} }: DetectedSource,
  model: string,
  usedNames: readonly string[],
): Readonly<Record<string, string>> {
  return { ...entry, name: findUnusedName(entry.name ?? '', usedNames), ...(model === '' ? {} : { model }) }
}

/** The unique key of a past session of another product. */
export function buildPastSessionKey({
  source,
  sourceId,
}: Pick<PastSessionEntry, 'source' | 'sourceId'>): string {
  return `${source} ${sourceId}`
}
