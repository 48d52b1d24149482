/** The commands of the palette. */
import type { PaletteCommand } from '@/features/palette/palette'
import type { SettingsSectionName } from '@/features/settings/settings-dialog'
import { LANGUAGES } from '@/system/i18n/languages'
import type { Translate } from '@/system/i18n/translate'
import { THEMES } from '@/system/local/theme'
import type { SessionCard } from '@/system/rows/model'
import type { Services } from './services'

/** Commands of the active session. */
export interface SessionCommands {
  readonly canInterrupt: boolean
  readonly canResume: boolean
  readonly canDecide: boolean
  /** Whether the session is read-only, because it was imported from another product. */
  readonly isReadOnly: boolean
  /** Number of working agents; 0 without a team. */
  readonly atWork: number
  readonly interrupt: () => void
  readonly resume: () => void
  /** Show a tab of the details. */
  readonly showTab: (id: string) => void
  /** Open the dialog for a new job. */
  readonly openNewJob: () => void
}

export interface CommandContext extends SessionCommands {
  readonly t: Translate
  readonly services: Services
  readonly sessions: readonly SessionCard[]
  readonly active: SessionCard | null
  readonly decide: () => void
  readonly compose: () => void
  readonly toggleSidebar: () => void
  readonly toggleDetails: () => void
  readonly askToDelete: (session: SessionCard) => void
  readonly askToAdd: () => void
  readonly openSettings: (section: SettingsSectionName) => void
}

type Row = PaletteCommand & { readonly offered: boolean }

export function buildPaletteCommands(context: CommandContext): readonly PaletteCommand[] {
  return [
    ...buildSessionCommands(context),
    ...buildViewCommands(context),
    ...buildSessionLinks(context),
  ].filter((row) => row.offered)
}

function buildSessionCommands(context: CommandContext): readonly Row[] {
  const { t, services, active } = context
  const { workbench } = services
  const update = (change: { pinned?: boolean; archived?: boolean }) => {
    if (active === null) return
    const body = { sessionId: active.sessionId, ...change }
    void workbench.attempt(() => workbench.api.send('update_session', body))
  }
  const hasSession = active !== null
  const isWritable = !hasSession || !context.isReadOnly
  const buildRow = (
    id: string,
    label: string,
    icon: Row['icon'],
    offered: boolean,
    perform: () => void,
  ): Row => ({
    id,
    group: 'session',
    label,
    icon,
    offered,
    perform,
  })
  return [
    {
      ...buildRow('decide', t('palette.next_request'), 'shield', context.canDecide, context.decide),
      keys: t('action.focus_keys'),
    },
    buildRow('interrupt', t('palette.interrupt'), 'stop', context.canInterrupt, context.interrupt),
    buildRow('resume', t('palette.resume'), 'play', context.canResume, context.resume),
    buildRow('compose', t('palette.focus_composer'), 'edit', isWritable, context.compose),
    buildRow('artifacts', t('palette.artifacts'), 'layers', hasSession, () => context.showTab('artifacts')),
    buildRow('context', t('palette.context'), 'gauge', hasSession, () => context.showTab('context')),
    buildRow('tools', t('palette.tools'), 'tool', hasSession, () => context.showTab('tools')),
    buildRow('pin', t(active?.pinned ? 'sessions.unpin' : 'sessions.pin'), 'pin', hasSession, () =>
      update({ pinned: !active?.pinned }),
    ),
    buildRow(
      'archive',
      t(active?.archived ? 'sessions.unarchive' : 'sessions.archive'),
      'archive',
      hasSession,
      () => update({ archived: !active?.archived }),
    ),
    buildRow(
      'job',
      t('team.new_job'),
      'plus',
      isWritable && (hasSession || workbench.workspaceId !== ''),
      context.openNewJob,
    ),
    buildRow('add', t('palette.add_agent'), 'plus', hasSession && isWritable, context.askToAdd),
    buildRow('export', t('evidence.export'), 'download', hasSession, () => {
      if (active !== null) void workbench.attempt(() => workbench.evidence.export(active.sessionId, null))
    }),
    buildRow('delete', t('sessions.delete'), 'trash', hasSession, () => {
      if (active !== null) context.askToDelete(active)
    }),
  ]
}

function buildViewCommands(context: CommandContext): readonly Row[] {
  const { t, services } = context
  const { theme, language } = services
  const buildRow = (id: string, label: string, icon: Row['icon'], perform: () => void): Row => ({
    id,
    group: 'view',
    label,
    icon,
    offered: true,
    perform,
  })
  return [
    buildRow('sidebar', t('palette.toggle_sidebar'), 'sidebar', context.toggleSidebar),
    buildRow('settings', t('settings.title'), 'gear', () => context.openSettings('models')),
    buildRow('rules', t('palette.rules'), 'shield', () => context.openSettings('rules')),
    buildRow('servers', t('palette.servers'), 'tool', () => context.openSettings('servers')),
    buildRow('details', t('palette.toggle_details'), 'details', context.toggleDetails),
    ...THEMES.map((choice) =>
      buildRow(`theme ${choice}`, `${t('theme.label')}: ${t(`theme.${choice}`)}`, 'sun', () =>
        theme.choose(choice),
      ),
    ),
    ...LANGUAGES.map(({ code, name }) =>
      buildRow(
        `language ${code}`,
        `${t('language.label')}: ${name}`,
        'globe',
        () => void language.choose(code),
      ),
    ),
  ]
}

function buildSessionLinks(context: CommandContext): readonly Row[] {
  const { t, services, sessions } = context
  const open = (id: string | null) => services.workbench.openSession(id)
  const rows = sessions
    .filter((session) => !session.archived)
    .toSorted((a, b) => b.order - a.order)
    .map((session): Row => {
      const label = session.title || t('sessions.untitled')
      const perform = () => open(session.sessionId)
      return { id: session.sessionId, group: 'sessions', label, icon: 'chevronRight', offered: true, perform }
    })
  const newSession: Row = {
    id: 'new',
    group: 'sessions',
    label: t('sessions.new'),
    icon: 'plus',
    offered: true,
    perform: () => open(null),
  }
  return [newSession, ...rows]
}
