import { expect, test } from 'vitest'
import { isVague } from '../../../dev/name-rules'
import { formatPosition, listNodes, type Node, readSources, type Source } from '../../../dev/sources'
import { findAvoidedWord, findChineseTypo } from '../../../dev/text-rules'
import {
  ACTION_OUTCOMES,
  ACTION_TYPES,
  APPROVAL_SCOPES,
  CHECK_NAMES,
  CODES,
  INTERRUPT_CAUSES,
  MODES,
  PAUSE_CAUSES,
  PERMISSION_MODES,
  REASON_CODES,
  REQUESTED_PERMISSION_CODES,
  RISKS,
  SESSION_STATES,
  SETTINGS_PROBLEM_CODES,
  STATUS_DETAILS,
  STEER_REJECTIONS,
  TOOL_STATES,
  TURN_STATES,
  VERDICTS,
} from '../generated/contracts'
import { en } from './en'
import { createTranslator } from './translate'
import { zh } from './zh'

const listPlaceholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()

test('every language has the same keys, none of them empty, with the same placeholders', () => {
  expect(Object.keys(zh)).toEqual(Object.keys(en))
  for (const [key, text] of Object.entries(en)) {
    const other = zh[key as keyof typeof en]
    expect(other.trim(), key).not.toBe('')
    expect(listPlaceholders(other), key).toEqual(listPlaceholders(text))
  }
})

test('every value of every closed list that the page shows has a text (UI-26)', () => {
  const lists: Record<string, readonly string[]> = {
    'status.': STATUS_DETAILS,
    'session.state.': SESSION_STATES,
    'turn.state.': TURN_STATES,
    'tool.state.': TOOL_STATES,
    'action.title.': ACTION_TYPES,
    'action.line.': ACTION_OUTCOMES,
    'action.scope.': APPROVAL_SCOPES,
    'action.risk.': RISKS,
    'check.': CHECK_NAMES,
    'verdict.': VERDICTS,
    'code.': CODES,
    'outcome.interrupted.': INTERRUPT_CAUSES,
    'paused.': PAUSE_CAUSES,
    'team.paused.': PAUSE_CAUSES,
    'steer.rejected.': STEER_REJECTIONS,
    'composer.mode.': MODES,
    'composer.permission.': PERMISSION_MODES,
    'first.subtitle.': PERMISSION_MODES,
    'action.reason.': REASON_CODES,
    'settings.problem.': SETTINGS_PROBLEM_CODES,
    'trust.detail.': REQUESTED_PERMISSION_CODES,
  }
  const missing = Object.entries(lists).flatMap(([stem, values]) =>
    values.map((value) => stem + value).filter((key) => !Object.hasOwn(en, key)),
  )
  expect(missing).toEqual([])
})

test('lost work reads as work of an ended process, not as a lost connection', () => {
  const texts = [en, zh].flatMap((language) =>
    Object.entries(language).filter(([key]) => /\.lost$/.test(key) && key !== 'settings.server.lost'),
  )
  expect(texts).toHaveLength(10)
  expect(texts.filter(([, text]) => /connect|连接/i.test(text))).toEqual([])
})

test('every text is used', () => {
  const all = ['app', 'features', 'ui'].flatMap(readSources)
  const text = all.map((source) => source.text).join('\n')
  const stems = [...text.matchAll(/`([a-z_.]+[._])\$\{/g)].map(([, stem]) => stem ?? '')
  const unused = Object.keys(en).filter((key) => {
    const stem = key.replace(/_(?:one|other)$/, '')
    return !text.includes(`'${stem}'`) && !stems.some((stem) => key.startsWith(stem))
  })
  expect(unused).toEqual([])
})

/** List `key: match` for each text with a match. */
const listMatches = (texts: Readonly<Record<string, string>>, find: (text: string) => string | null) =>
  Object.entries(texts).flatMap(([key, text]) => {
    const match = find(text)
    return match === null ? [] : [`${key}: ${match}`]
  })

test('English texts avoid the words of the style guide', () => {
  expect(listMatches(en, findAvoidedWord)).toEqual([])
  expect(findAvoidedWord('One agent mends a failing test')).toBe('mends')
  expect(findAvoidedWord('Nothing goes on by itself.')).toBe('goes on')
  expect(findAvoidedWord('Recommended')).toBeNull()
})

test('Chinese texts use full-width punctuation and a space beside Latin words', () => {
  expect(listMatches(zh, findChineseTypo)).toEqual([])
  expect(findChineseTypo('重启Callboard。')).toBe('启C')
  expect(findChineseTypo('未知: {tool}')).toBe('知:')
  expect(findChineseTypo('内存（MiB）')).toBeNull()
})

/** Keys of these stems end in a value of the wire. */
const WIRE_STEMS = ['artifact.origin.', 'settings.preview_verdict.']

test('no key has a vague name', () => {
  const own = Object.keys(en).filter((key) => !WIRE_STEMS.some((stem) => key.startsWith(stem)))
  expect(own.filter((key) => key.split('.').some(isVague))).toEqual([])
})

test('a count takes the form that its language requires', () => {
  const english = createTranslator(en, 'en')
  expect(english.count('turn.tools', 1)).toBe('1 tool call')
  expect(english.count('turn.tools', 1200)).toBe('1,200 tool calls')
  expect(createTranslator(zh, 'zh-CN').count('turn.tools', 1)).toBe('1 次工具调用')
})

test('a placeholder takes its value unchanged, and a name without a value stays', () => {
  const english = createTranslator(en, 'en')
  expect(english('status.running_tool', { tool: '{tool} $& <b>' })).toBe('Running {tool} $& <b>')
  expect(english('status.running_tool', {})).toBe('Running {tool}')
  expect(english.find('status.of_tomorrow')).toBeNull()
  expect(english.find('constructor')).toBeNull()
})

const VISIBLE = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label'])
const WORD = /\p{L}{2,}/u

/** Untranslatable texts in the markup. */
function listFixedTexts(source: Source): string[] {
  const texts: string[] = []
  for (const node of listNodes(source)) {
    const text = readFixedText(node)
    if (text !== null && WORD.test(text)) texts.push(`${formatPosition(source, node)} ${text.trim()}`)
  }
  return texts
}

function readFixedText(node: Node): string | null {
  if (node.type === 'JSXText') return String(node.value)
  if (node.type === 'JSXExpressionContainer') return readLiteral(node.expression as Node)
  if (node.type !== 'JSXAttribute' || !VISIBLE.has(String((node.name as Node).name))) return null
  return node.value === null ? null : readLiteral(node.value as Node)
}

function readLiteral(node: Node): string | null {
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : null
}

test('no text is written into the markup', () => {
  expect(['app', 'features', 'ui'].flatMap(readSources).flatMap(listFixedTexts)).toEqual([])
})

test('the check finds texts in the markup', () => {
  const findTexts = (text: string) => listFixedTexts({ path: 'x.tsx', text })
  expect(findTexts('const a = <p>Hello there</p>')).toEqual(['x.tsx:1 Hello there'])
  expect(findTexts('const a = <input placeholder="Say it" />')).toEqual(['x.tsx:1 Say it'])
  expect(findTexts("const a = <p>{'Said'}</p>")).toEqual(['x.tsx:1 Said'])
  expect(findTexts('const a = <p title={t("app.copy")}> · +{1}</p>')).toEqual([])
})
