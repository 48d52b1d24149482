import type { ReactElement } from 'react'
import type { IconName } from '../icon'

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
