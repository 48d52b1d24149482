/** Text lengths in code points, as the server counts them. JavaScript counts UTF-16 units. */

export function countCharacters(text: string): number {
  let pairs = 0
  for (let i = 0; i < text.length - 1; i++) {
    if (isPairAt(text, i)) {
      pairs++
      i++
    }
  }
  return text.length - pairs
}

/** Remove the first `count` characters. */
export function skipCharacters(text: string, count: number): string {
  let i = 0
  for (let skipped = 0; skipped < count && i < text.length; skipped++) i += isPairAt(text, i) ? 2 : 1
  return text.slice(i)
}

function isPairAt(text: string, index: number): boolean {
  const high = text.charCodeAt(index)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(index + 1)
  return low >= 0xdc00 && low <= 0xdfff
}
