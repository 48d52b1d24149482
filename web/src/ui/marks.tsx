import type { ReactNode } from 'react'

export type Tone = 'quiet' | 'accent' | 'good' | 'warn' | 'bad'

const DOTS: Record<Tone, string> = {
  quiet: 'bg-line-strong',
  accent: 'bg-accent',
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
}

/** A coloured dot. The text next to it has the same meaning. */
export function Dot({ tone, active = false }: { tone: Tone; active?: boolean }) {
  return (
    <span
      aria-hidden="true"
      className={`inline-block size-2 shrink-0 rounded-full ${DOTS[tone]} ${active ? 'animate-breathe' : ''}`}
    />
  )
}

const BADGES: Record<Tone, string> = {
  quiet: 'bg-hover text-ink-soft',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
}

export function Badge({ tone = 'quiet', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className={`inline-flex h-[18px] items-center rounded px-1.5 text-xs font-medium ${BADGES[tone]}`}>
      {children}
    </span>
  )
}

export function Key({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-[18px] min-w-[18px] items-center justify-center rounded border border-line-strong px-1 font-sans text-xs text-ink-faint in-[.bg-accent]:border-current in-[.bg-accent]:text-accent-ink">
      {children}
    </kbd>
  )
}
