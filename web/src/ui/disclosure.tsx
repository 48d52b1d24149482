import { type ReactNode, useState } from 'react'
import { Icon } from './icon'

/** A heading that shows and hides its content. The open state is local. */
export function Disclosure(props: {
  readonly title: ReactNode
  readonly startsOpen?: boolean
  readonly children: ReactNode
}) {
  const [open, setOpen] = useState(props.startsOpen ?? false)
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex h-6 items-center gap-1 rounded text-sm font-medium text-ink-soft hover:text-ink"
      >
        <Icon name={open ? 'chevronDown' : 'chevronRight'} size={12} />
        {props.title}
      </button>
      {open && <div className="pt-1 pb-2 pl-4">{props.children}</div>}
    </div>
  )
}
