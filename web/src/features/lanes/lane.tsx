import type { ReactNode } from 'react'
import { formatAgo } from '@/system/format/numbers'
import { Badge, type Tone } from '@/ui/marks'
import { useNow } from '@/ui/use-now'
import { useT } from '../shared/surface'

/** A list of entries, the newest first, or a text if there are none. */
export function Lane(props: {
  readonly label: string
  readonly empty: string
  readonly children: readonly ReactNode[]
}) {
  return (
    <section aria-label={props.label} className="space-y-1.5">
      <h3 className="flex items-baseline gap-2 text-sm font-semibold text-ink-soft">
        {props.label}
        <span className="tabular font-normal text-ink-faint">{props.children.length}</span>
      </h3>
      {props.children.length === 0 ? (
        <p className="text-ink-faint">{props.empty}</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">{props.children}</ul>
      )}
    </section>
  )
}

export function Entry(props: {
  readonly who: ReactNode
  readonly state: string
  readonly tone: Tone
  readonly at: number
  readonly children: ReactNode
}) {
  return (
    <li className="space-y-1 px-3 py-2">
      <p className="flex min-w-0 flex-wrap items-center gap-x-2">
        {props.who}
        <Badge tone={props.tone}>{props.state}</Badge>
        <Ago at={props.at} />
      </p>
      {props.children}
    </li>
  )
}

export function FromTo(props: { readonly from: string; readonly to: string }) {
  const arrow = ' → '
  return (
    <span className="wrap-any min-w-0 font-medium">
      {props.from}
      <span className="font-normal text-ink-faint">{arrow}</span>
      {props.to}
    </span>
  )
}

function Ago({ at }: { at: number }) {
  const t = useT()
  const now = useNow(30_000)
  if (at === 0) return null
  return (
    <span className="ml-auto text-sm whitespace-nowrap text-ink-faint">
      {formatAgo(at / 1000, now, t.locale)}
    </span>
  )
}

/** A named line of an entry. */
export function NamedLine({ name, children }: { name: string; children: ReactNode }) {
  return (
    <p className="wrap-any text-sm">
      <span className="text-ink-faint">{name}</span> <span className="text-ink-soft">{children}</span>
    </p>
  )
}
