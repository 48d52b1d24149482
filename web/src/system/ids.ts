/** Ids that the page makes: UUIDv7 in the digits of the runtime's own ids, so that they sort by time like those. */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 22

/** `trn` a turn, `str` a steer, `key` an idempotency key, `att` a file on its way. */
export type IdKind = 'trn' | 'str' | 'key' | 'att'

export function newId(kind: IdKind, now: number = Date.now()): string {
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
