/**
 * The arguments of a call on lines of their own, with line breaks inside strings as line breaks. What is no whole JSON
 * object stays as it is.
 */
export function laidOutArguments(text: string): string {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return text
  const lines = Object.entries(value).map(([name, field]) => {
    const shown = typeof field === 'string' ? field : JSON.stringify(field)
    return shown.includes('\n') ? `${name}:\n${shown}` : `${name}: ${shown}`
  })
  return lines.join('\n')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** What a call is about, without the name of its tool in front: that stands beside it. */
export function callSummary(tool: string, summary: string): string {
  if (summary === tool) return ''
  return summary.startsWith(`${tool} `) ? summary.slice(tool.length + 1) : summary
}
