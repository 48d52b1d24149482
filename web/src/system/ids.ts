/**
 * Ids that the page creates: UUIDv7 in the runtime's digits, so that they sort by time with the
 * runtime's ids.
 */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 22

/** `trn`: turn, `str`: steer, `key`: idempotency key, `att`: attachment. */
export type IdKind = 'trn' | 'str' | 'key' | 'att'

export function createId(kind: IdKind, now: number = Date.now()): string {
  let number = BigInt(now) << 80n
  for (const [index, byte] of crypto.getRandomValues(new Uint8Array(10)).entries()) {
    number |= BigInt(byte) << BigInt(72 - 8 * index)
  }
  number = (number & ~(0xfn << 76n)) | (7n << 76n)
  number = (number & ~(3n << 62n)) | (2n << 62n)
  let text = ''
  for (let digit = 0; digit < LENGTH; digit++) {
    text = DIGITS[Number(number % 62n)] + text
    number /= 62n
  }
  return `${kind}_${text}`
}
