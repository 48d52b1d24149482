import { useState } from 'react'
import type { TrustRead } from '@/system/generated/contracts'
import type { SettingsView } from '@/system/stores/settings-store'
import { IconButton } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { RadioGroup } from '@/ui/radio-group'
import { SettingsProblemText } from '../shared/settings-problem'
import { useT } from '../shared/surface'
import { HooksSection } from './hooks-section'
import { ModelsSection } from './models-section'
import { PermissionsSection } from './permissions-section'
import { RulesSection } from './rules-section'
import { ServersSection } from './servers-section'
import type { SettingsHandlers } from './settings-section'
import { SettingsRefusal } from './settings-section'
import { ValuesSection } from './values-section'

const SECTIONS = [
  'models',
  'permissions',
  'rules',
  'servers',
  'hooks',
  'shell',
  'context',
  'general',
] as const
export type SettingsSectionName = (typeof SECTIONS)[number]
/** Sections that only the user's file can set. */
const USER_SECTIONS: ReadonlySet<SettingsSectionName> = new Set(['models', 'general'])
/** Sections that show one file. Rules are shown from all files. */
const FILE_SECTIONS: ReadonlySet<SettingsSectionName> = new Set([
  'permissions',
  'servers',
  'hooks',
  'shell',
  'context',
])
const PLACES = ['user', 'folder'] as const
const OWN = ['port', 'browser', 'demo_pace', 'retention']

export interface SettingsDialogProps {
  readonly view: SettingsView
  readonly trust: TrustRead | null
  readonly folder: string
  readonly section?: SettingsSectionName
  readonly handlers: SettingsHandlers
  readonly onClose: () => void
}

/** The settings, with the names and limits of the settings files. */
export default function SettingsDialog(props: SettingsDialogProps) {
  const t = useT()
  const { view, handlers } = props
  const [section, setSection] = useState<SettingsSectionName>(props.section ?? 'models')
  const problems = view.read?.problems ?? []
  return (
    <Dialog
      label={t('settings.title')}
      onClose={props.onClose}
      className="top-[6vh]! h-[min(780px,88vh)] w-[min(880px,calc(100vw-24px))]!"
    >
      <div className="flex h-full flex-col">
        <header className="flex h-11 shrink-0 items-center gap-3 border-b border-line pr-2 pl-4">
          <h2 className="text-lg font-semibold">{t('settings.title')}</h2>
          <span className="flex-1" />
          {FILE_SECTIONS.has(section) && props.folder !== '' && (
            <RadioGroup
              label={t('settings.target')}
              value={view.place}
              onChange={handlers.onPlace}
              choices={PLACES.map((value) => ({
                value,
                label: t(`settings.target.${value}`),
                hint: value === 'folder' ? props.folder : '',
              }))}
            />
          )}
          <IconButton icon="close" label={t('app.close')} onClick={props.onClose} />
        </header>
        <div className="flex min-h-0 flex-1 max-sm:flex-col">
          <nav
            aria-label={t('settings.sections')}
            className="flex w-44 shrink-0 flex-col gap-px border-r border-line p-2 max-sm:w-full max-sm:flex-row max-sm:overflow-x-auto max-sm:border-r-0 max-sm:border-b"
          >
            {SECTIONS.map((value) => (
              <button
                key={value}
                type="button"
                aria-current={value === section}
                onClick={() => {
                  setSection(value)
                  if (USER_SECTIONS.has(value)) handlers.onPlace('user')
                }}
                className="h-7 rounded-md px-2 text-left font-medium whitespace-nowrap text-ink-soft hover:bg-hover aria-[current=true]:bg-selected aria-[current=true]:text-ink"
              >
                {t(`settings.section.${value}`)}
              </button>
            ))}
          </nav>
          <div className="min-h-0 min-w-0 flex-1 space-y-4 overflow-y-auto p-4">
            <SettingsRefusal refusal={view.failed} onReload={handlers.onReload} />
            {problems.map((problem) => (
              <p key={`${problem.file} ${problem.message}`} role="alert" className="wrap-any text-bad">
                <SettingsProblemText problem={problem} />
              </p>
            ))}
            <SelectedSection {...props} section={section} />
            {view.read !== null && section !== 'rules' && (
              <p className="wrap-any border-t border-line pt-2 text-sm text-ink-faint">
                {t('settings.file')} <span className="font-mono">{view.read.path}</span>
              </p>
            )}
          </div>
        </div>
      </div>
    </Dialog>
  )
}

function SelectedSection(props: SettingsDialogProps & { readonly section: SettingsSectionName }) {
  const t = useT()
  const { view, handlers, section } = props
  switch (section) {
    case 'models':
      return <ModelsSection view={view} handlers={handlers} />
    case 'permissions':
      return <PermissionsSection view={view} trust={props.trust} handlers={handlers} />
    case 'rules':
      return <RulesSection view={view} handlers={handlers} />
    case 'servers':
      return <ServersSection view={view} handlers={handlers} />
    case 'hooks':
      return <HooksSection key={view.place} view={view} handlers={handlers} />
    case 'shell':
    case 'context':
      return (
        <ValuesSection
          key={`${section} ${view.place}`}
          title={t(`settings.section.${section}`)}
          hint={t(`settings.${section}_help`)}
          view={view}
          handlers={handlers}
          table={section}
        />
      )
    case 'general':
      return (
        <ValuesSection
          title={t('settings.section.general')}
          hint={t('settings.general_help')}
          view={view}
          handlers={handlers}
          names={OWN}
        />
      )
  }
}
