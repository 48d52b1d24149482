import { DropdownMenu } from 'radix-ui'
import type { ReactElement } from 'react'
import { Icon, type IconName } from '../icon'

const ITEM =
  'flex h-7 cursor-default items-center gap-2 rounded px-2 outline-none select-none data-[highlighted]:bg-hover'

/** An open menu. It is not modal, so no style is injected into the page. */
export default function OpenMenu(props: MenuProps) {
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{props.trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-40 max-h-(--radix-dropdown-menu-content-available-height) min-w-40 overflow-y-auto rounded-md border border-line-strong bg-surface p-1 shadow-lg"
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

export interface MenuEntry {
  readonly id: string
  readonly label: string
  readonly icon?: IconName
  readonly checked?: boolean
  readonly danger?: boolean
  readonly onSelect: () => void
}

export interface MenuProps {
  readonly trigger: ReactElement
  readonly entries: readonly MenuEntry[]
}
