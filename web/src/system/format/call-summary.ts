/** What a call is about, without the name of its tool in front: that stands beside it. */
export function callSummary(tool: string, summary: string): string {
  if (summary === tool) return ''
  return summary.startsWith(`${tool} `) ? summary.slice(tool.length + 1) : summary
}
