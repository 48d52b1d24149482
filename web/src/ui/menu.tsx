import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon'

export interface MenuEntry {
  readonly id: string
  readonly label: string
  readonly icon?: IconName
  readonly checked?: boolean
  readonly danger?: boolean
  readonly onSelect: () => void
}

const ITEM =
  'flex h-7 cursor-default items-center gap-2 rounded px-2 outline-none select-none data-[highlighted]:bg-hover'

/** A menu under a button. It is not modal: the page around it stays as it is and no style is injected. */
export function Menu(props: {
  readonly trigger: ReactNode
  readonly label?: string
  readonly entries: readonly MenuEntry[]
  readonly align?: 'start' | 'end'
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{props.trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={props.align ?? 'end'}
          sideOffset={4}
          collisionPadding={8}
          {...(props.label === undefined ? {} : { 'aria-label': props.label })}
          className="z-40 min-w-40 rounded-md border border-line-strong bg-surface p-1 shadow-lg"
        >
          {props.entries.map((entry) => (
            <DropdownMenu.Item
              key={entry.id}
              onSelect={entry.onSelect}
              className={`${ITEM} ${entry.danger ? 'text-bad' : ''}`}
            >
              {entry.icon && <Icon name={entry.icon} size={14} className="text-ink-faint" />}
              <span className="flex-1">{entry.label}</span>
              {entry.checked && <Icon name="check" size={14} />}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
