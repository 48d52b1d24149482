/**
 * Split Markdown into blocks that render independently, so that streaming re-renders only the last
 * block. The joined blocks equal the text.
 */
export function splitMarkdown(text: string): readonly string[] {
  const blocks: string[] = []
  let start = 0
  let position = 0
  let fence = ''
  let blankBefore = false
  while (position < text.length) {
    const newline = text.indexOf('\n', position)
    const end = newline < 0 ? text.length : newline + 1
    const line = text.slice(position, end)
    if (fence === '' && blankBefore && beginsBlock(line)) {
      blocks.push(text.slice(start, position))
      start = position
    }
    fence = trackFence(line, fence)
    blankBefore = fence === '' && line.trim() === ''
    position = end
  }
  if (start < text.length) blocks.push(text.slice(start))
  return blocks
}

/**
 * False for lines that may continue the block above a blank line: list items, indented text, blank
 * lines.
 */
function beginsBlock(line: string): boolean {
  return !/^(?:\s|[-*+] |\d{1,9}[.)] |\[\^?[^\]]+\]:)/.test(line)
}

function trackFence(line: string, open: string): string {
  const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line.trimEnd())
  if (mark === null) return open
  const [, run = '', rest = ''] = mark
  if (open === '') return run[0] === '`' && rest.includes('`') ? '' : run
  const closes = run[0] === open[0] && run.length >= open.length && rest.trim() === ''
  return closes ? '' : open
}
