/** Names as the settings take them. */

/** A name of letters, digits and what may stand between them, made of one that a person reads. */
function plain(name: string): string {
  const kept = name
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
  return kept.slice(0, 48) || 'model'
}

/** That name, or the first with a number behind it that nobody has. */
export function unusedName(name: string, taken: readonly string[]): string {
  const wanted = plain(name)
  if (!taken.includes(wanted)) return wanted
  for (let n = 2; ; n++) if (!taken.includes(`${wanted}-${n}`)) return `${wanted}-${n}`
}
