import { Command, defaultFilter } from 'cmdk'
import { Dialog } from '@/ui/dialog'
import { Icon, type IconName } from '@/ui/icon'
import { Key } from '@/ui/marks'
import { useT } from '../shared/surface'

/** A command: label, shortcut and action. */
export interface PaletteCommand {
  readonly id: string
  readonly group: 'session' | 'sessions' | 'view'
  readonly label: string
  readonly icon: IconName
  readonly keys?: string
  readonly perform: () => void
}

const GROUPS = ['session', 'sessions', 'view'] as const

/** The search terms of a command, without ids. */
function searchTerms({ id, group, label }: PaletteCommand): string[] {
  return group === 'sessions' ? [label] : [label, id]
}

export default function Palette(props: {
  readonly commands: readonly PaletteCommand[]
  readonly onRun: (command: PaletteCommand) => void
  readonly onClose: () => void
}) {
  const t = useT()
  return (
    <Dialog label={t('palette.title')} onClose={props.onClose}>
      <Command
        label={t('palette.title')}
        loop
        filter={(_, typed, words) => defaultFilter(words?.join(' ') ?? '', typed)}
      >
        <Command.Input
          autoFocus
          placeholder={t('palette.placeholder')}
          className="h-11 w-full border-b border-line bg-transparent px-4 text-lg outline-none"
        />
        <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
          <Command.Empty className="px-3 py-6 text-center text-ink-faint">{t('palette.empty')}</Command.Empty>
          {GROUPS.map((group) => {
            const commands = props.commands.filter((command) => command.group === group)
            if (commands.length === 0) return null
            return (
              <Command.Group
                key={group}
                heading={t(`palette.group.${group}`)}
                className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-sm [&_[cmdk-group-heading]]:text-ink-faint"
              >
                {commands.map((command) => (
                  <Command.Item
                    key={command.id}
                    value={command.id}
                    keywords={searchTerms(command)}
                    onSelect={() => props.onRun(command)}
                    className="flex h-8 items-center gap-2.5 rounded-md px-2 data-[selected=true]:bg-selected"
                  >
                    <Icon name={command.icon} size={14} className="text-ink-faint" />
                    <span className="min-w-0 flex-1 truncate">{command.label}</span>
                    {command.keys && <Key>{command.keys}</Key>}
                  </Command.Item>
                ))}
              </Command.Group>
            )
          })}
        </Command.List>
      </Command>
    </Dialog>
  )
}
