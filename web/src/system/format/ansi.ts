/**
 * Terminal output as plain text: without control sequences, each overwritten line in its last
 * state.
 */

const ESC = String.fromCharCode(0x1b)
const BEL = String.fromCharCode(0x07)
const CSI_C1 = String.fromCharCode(0x9b)
const ST_C1 = String.fromCharCode(0x9c)

const SEQUENCES = new RegExp(
  [
    // OSC, DCS, SOS, PM and APC strings, up to their terminator or the end of the text.
    `${ESC}[\\]PX^_][^${BEL}${ESC}${ST_C1}]*(?:${BEL}|${ESC}\\\\|${ST_C1}|$)`,
    // CSI: colours, cursor movement.
    `(?:${ESC}\\[|${CSI_C1})[0-?]*[ -/]*[@-~]?`,
    // Two-character escapes.
    `${ESC}[ -/]*[0-~]?`,
  ].join('|'),
  'g',
)

/**
 * Control characters other than tab, newline and carriage return, and the marks that reorder or
 * hide text.
 */
const CONTROLS = /[\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu
const ALLOWED = new Set(['\t', '\n', '\r'])

export function stripTerminalCodes(text: string): string {
  const bare = text
    .replace(SEQUENCES, '')
    .replace(/\r\n/g, '\n')
    .replace(CONTROLS, (unit) => (ALLOWED.has(unit) ? unit : ''))
  if (!bare.includes('\r')) return bare
  return bare
    .split('\n')
    .map((line) => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1).replace(/\r+$/, ''))
    .join('\n')
}
