import { Popover } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'

export interface PopoverProps {
  readonly trigger: ReactElement
  readonly label: string
  readonly children: ReactNode
}

/** An open panel. It is not modal, so no style is injected into the page. */
export default function OpenPopover(props: PopoverProps) {
  return (
    <Popover.Root defaultOpen>
      <Popover.Trigger asChild>{props.trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label={props.label}
          className="z-40 w-[340px] max-w-[calc(100vw-16px)] rounded-md border border-line-strong bg-surface p-3 shadow-lg outline-none"
        >
          {props.children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
