/**
 * Text that a person decides on: invisible characters as marks, long or empty passages as counted
 * folds.
 */

/**
 * Controls except tab and line feed, format characters, separators, unpaired surrogates,
 * default-ignorable code points, and spaces that look like U+0020.
 */
const INVISIBLE =
  /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Zs} \u3000]/gu
const RUNS = new RegExp(`(${INVISIBLE.source})\\1*`, 'gu')
/** Longer runs of blanks could push the text after them out of view. */
const BLANKS = /[ \t]{61,}/g
const HANDLE = /secret:\/\/seen-[0-9a-f]{12}/g

const MAX_EMPTY_LINES = 3
const HEAD = 24
const TAIL = 12
const LINE_HEAD = 1200
const LINE_TAIL = 600

/** A hidden passage; `text` is all of it, with marks. */
export interface Fold {
  readonly kind: 'empty_lines' | 'lines' | 'characters'
  readonly count: number
  readonly text: string
}

/**
 * Replace each invisible character by a mark. Repeats share one mark. CRLF counts as a line break.
 */
export function markInvisible(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(RUNS, (run: string) => {
      const [first = ''] = run
      const count = run.length / first.length
      return `⟨${formatCodePoint(first)}${count > 1 ? ` ×${count}` : ''}⟩`
    })
    .replace(BLANKS, (run) => ` ⟨U+0020 ×${run.length}⟩ `)
}

/** Count the characters that `visibleText` replaces. */
export function countInvisible(text: string): number {
  return text.replace(/\r\n/g, '\n').match(INVISIBLE)?.length ?? 0
}

/** Count the passages that redaction replaced. */
export function countMasked(text: string): number {
  return text.match(HANDLE)?.length ?? 0
}

/**
 * Split a text into marked lines, with counted folds for long and empty passages. Lines of a diff
 * begin with a sign.
 */
export function foldLines(text: string, isDiff = false): readonly (string | Fold)[] {
  const lines: (string | Fold)[] = []
  for (const run of groupRuns(markInvisible(text).split('\n'), isDiff)) {
    if (run.empty && run.lines.length > MAX_EMPTY_LINES) {
      lines.push({ kind: 'empty_lines', count: run.lines.length, text: run.lines.join('\n') })
    } else lines.push(...run.lines.flatMap(foldLine))
  }
  if (lines.length <= HEAD + TAIL + 1) return lines
  const whole = lines
    .slice(HEAD, -TAIL)
    .map((part) => (typeof part === 'string' ? part : part.text))
    .join('\n')
  const fold: Fold = { kind: 'lines', count: whole.split('\n').length, text: whole }
  return [...lines.slice(0, HEAD), fold, ...lines.slice(-TAIL)]
}

/**
 * Whether a diff has empty lines that would be folded. The diff view could hide the text after
 * them.
 */
export function hasEmptyFold(diff: string): boolean {
  return groupRuns(markInvisible(diff).split('\n'), true).some(
    (run) => run.empty && run.lines.length > MAX_EMPTY_LINES,
  )
}

interface Run {
  readonly empty: boolean
  readonly sign: string
  readonly lines: string[]
}

function groupRuns(lines: readonly string[], isDiff: boolean): readonly Run[] {
  const runs: Run[] = []
  for (const line of lines) {
    const sign = isDiff && /^[+-]/.test(line) ? line.slice(0, 1) : ''
    const empty = /^[ \t]*$/.test(line.slice(sign.length))
    const last = runs.at(-1)
    if (last?.empty === empty && (!empty || last.sign === sign)) last.lines.push(line)
    else runs.push({ empty, sign, lines: [line] })
  }
  return runs
}

function foldLine(line: string): readonly (string | Fold)[] {
  if (line.length <= LINE_HEAD + LINE_TAIL) return [line]
  const hidden = line.slice(LINE_HEAD, -LINE_TAIL)
  return [
    line.slice(0, LINE_HEAD),
    { kind: 'characters', count: hidden.length, text: hidden },
    line.slice(-LINE_TAIL),
  ]
}

function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
