/**
 * Lay out the arguments of a call: one per line, with line breaks inside strings as line breaks. Text
 * that is not a complete JSON object stays unchanged.
 */
export function layOutArguments(text: string): string {
  const value = parseObject(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return text
  const lines = Object.entries(value).map(([name, field]) => {
    const text = typeof field === 'string' ? field : JSON.stringify(field)
    return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`
  })
  return lines.join('\n')
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Return the summary of a call without its tool's name, which the page shows beside it. */
export function stripToolName(tool: string, summary: string): string {
  if (summary === tool) return ''
  return summary.startsWith(`${tool} `) ? summary.slice(tool.length + 1) : summary
}
