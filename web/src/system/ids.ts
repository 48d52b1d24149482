/** Ids that the page makes: UUIDv7 in the alphabet of the runtime's own ids, so that they sort by time. */

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const DIGITS = 26

export type IdKind = 'trn' | 'str' | 'key'

export function newId(kind: IdKind, now: number = Date.now()): string {
  const random = crypto.getRandomValues(new Uint8Array(10))
  let number = BigInt(now) << 80n
  for (const [index, byte] of random.entries()) number |= BigInt(byte) << BigInt(72 - 8 * index)
  number = (number & ~(0xfn << 76n)) | (7n << 76n)
  number = (number & ~(3n << 62n)) | (2n << 62n)
  let text = ''
  for (let digit = 0; digit < DIGITS; digit++) {
    text = ALPHABET[Number(number & 31n)] + text
    number >>= 5n
  }
  return `${kind}_${text}`
}
