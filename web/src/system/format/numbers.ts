/** Durations, sizes and counts in the formats of a locale. */

export function formatDuration(milliseconds: number, locale: string): string {
  const seconds = Math.max(0, milliseconds) / 1000
  if (seconds < 1) return formatUnit(Math.round(Math.max(0, milliseconds)), 'millisecond', locale)
  if (seconds < 10) return formatUnit(Math.floor(seconds * 10) / 10, 'second', locale)
  if (seconds < 60) return formatUnit(Math.floor(seconds), 'second', locale)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return joinUnits(minutes, 'minute', Math.floor(seconds % 60), 'second', locale)
  return joinUnits(Math.floor(minutes / 60), 'hour', minutes % 60, 'minute', locale)
}

/** Format a running clock in whole seconds, so that its width stays stable. */
export function formatElapsed(milliseconds: number, locale: string): string {
  return formatDuration(Math.max(1000, Math.floor(milliseconds / 1000) * 1000), locale)
}

export function formatBytes(size: number, locale: string): string {
  if (size < 1000) return formatUnit(size, 'byte', locale)
  if (size < 1_000_000) return formatUnit(Math.round(size / 100) / 10, 'kilobyte', locale)
  return formatUnit(Math.round(size / 100_000) / 10, 'megabyte', locale)
}

export function formatCount(number: number, locale: string): string {
  const format = number < 10_000 ? {} : ({ notation: 'compact', maximumFractionDigits: 1 } as const)
  return new Intl.NumberFormat(locale, format).format(number)
}

/** Format a past time relative to now, in the largest whole unit. Both are in milliseconds. */
export function formatAgo(then: number, now: number, locale: string): string {
  const seconds = Math.max(0, Math.floor((now - then) / 1000))
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' })
  if (seconds < 60) return format.format(0, 'second')
  if (seconds < 3600) return format.format(-Math.floor(seconds / 60), 'minute')
  if (seconds < 86_400) return format.format(-Math.floor(seconds / 3600), 'hour')
  if (seconds < 7 * 86_400) return format.format(-Math.floor(seconds / 86_400), 'day')
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(then)
}

/** Format a day, with its year only if that differs from now. Both are in milliseconds. */
export function formatDay(then: number, now: number, locale: string): string {
  const same = new Date(then).getFullYear() === new Date(now).getFullYear()
  const year = same ? {} : ({ year: 'numeric' } as const)
  return new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', ...year }).format(then)
}

export function formatClockTime(microseconds: number, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }).format(
    microseconds / 1000,
  )
}

/** Format the time of day. */
export function formatTimeOfDay(microseconds: number, locale: string): string {
  return new Intl.DateTimeFormat(locale, { timeStyle: 'medium' }).format(microseconds / 1000)
}

function formatUnit(value: number, name: string, locale: string): string {
  return new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'narrow' }).format(value)
}

function joinUnits(
  large: number,
  largeUnit: string,
  small: number,
  smallUnit: string,
  locale: string,
): string {
  const first = formatUnit(large, largeUnit, locale)
  return small === 0 ? first : `${first} ${formatUnit(small, smallUnit, locale)}`
}

/**
 * Format a past or future time relative to now, in the largest whole unit. Both are in
 * milliseconds.
 */
export function formatRelative(then: number, now: number, locale: string): string {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' })
  const seconds = Math.round((then - now) / 1000)
  const size = Math.abs(seconds)
  if (size < 60) return format.format(seconds, 'second')
  if (size < 3600) return format.format(Math.round(seconds / 60), 'minute')
  if (size < 86_400) return format.format(Math.round(seconds / 3600), 'hour')
  return format.format(Math.round(seconds / 86_400), 'day')
}

const DAY_MS = 86_400_000

/**
 * Format a future time: time of day, weekday or date, depending on its distance. Both are in
 * milliseconds.
 */
export function formatFutureTime(then: number, now: number, locale: string): string {
  const clock = { hour: 'numeric', minute: '2-digit' } as const
  const day = then - now < DAY_MS ? {} : then - now < 6 * DAY_MS ? ({ weekday: 'short' } as const) : null
  const format = day === null ? ({ dateStyle: 'medium', timeStyle: 'short' } as const) : { ...day, ...clock }
  return new Intl.DateTimeFormat(locale, format).format(then)
}
