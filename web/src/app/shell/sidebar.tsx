import { SessionList } from '@/features/session/session-list'
import { useT } from '@/features/shared/surface'
import { LANGUAGES } from '@/system/i18n/languages'
import { THEMES } from '@/system/local/theme'
import type { SessionCard, WorkspaceRow } from '@/system/rows/model'
import { IconButton } from '@/ui/button'
import { Menu } from '@/ui/menu/menu'
import { Select } from '@/ui/select'
import { useServices } from '../services-context'
import { useSignal } from '../use-signal'
import { useUnread } from './use-unread'

export interface SidebarProps {
  readonly sessions: readonly SessionCard[]
  readonly workspaces: readonly WorkspaceRow[]
  readonly activeId: string | null
  readonly onOpen: (sessionId: string | null) => void
  readonly onDelete: (session: SessionCard) => void
  readonly onPalette: () => void
  readonly onSettings: () => void
  readonly onHide: () => void
}

export function Sidebar(props: SidebarProps) {
  const t = useT()
  const { workbench, theme, language } = useServices()
  useSignal(theme.changes)
  const rebuilding = props.workspaces.reduce((sum, workspace) => sum + (workspace.rebuilding ?? 0), 0)
  const isUnread = useUnread(props.sessions, props.activeId)
  const update = (sessionId: string, change: { title?: string; pinned?: boolean; archived?: boolean }) =>
    void workbench.attempt(() => workbench.api.send('update_session', { sessionId, ...change }))
  return (
    <div className="flex h-full flex-col bg-sunken">
      <header className="flex h-11 shrink-0 items-center gap-1 pr-2 pl-3">
        <Folder workspaces={props.workspaces} />
        <IconButton icon="sidebar" label={t('app.close_sidebar')} onClick={props.onHide} />
      </header>
      {rebuilding > 0 && (
        <p role="status" className="px-3 py-1 text-ink-soft">
          {t('app.rebuilding', { count: rebuilding })}
        </p>
      )}
      <SessionList
        sessions={props.sessions}
        activeId={props.activeId}
        isUnread={isUnread}
        onNew={() => props.onOpen(null)}
        handlers={{
          onOpen: props.onOpen,
          onRename: (sessionId, title) => update(sessionId, { title }),
          onPin: (sessionId, pinned) => update(sessionId, { pinned }),
          onArchive: (sessionId, archived) => update(sessionId, { archived }),
          onExport: (sessionId) => void workbench.attempt(() => workbench.evidence.export(sessionId, null)),
          onDelete: props.onDelete,
        }}
      />
      <footer className="flex h-10 shrink-0 items-center gap-0.5 border-t border-line px-2">
        <IconButton
          icon="search"
          label={t('palette.open')}
          aria-keyshortcuts="Control+K"
          onClick={props.onPalette}
        />
        <IconButton icon="gear" label={t('settings.title')} onClick={props.onSettings} />
        <span className="flex-1" />
        <Menu
          trigger={<IconButton aria-haspopup="menu" icon="globe" label={t('language.label')} />}
          entries={LANGUAGES.map(({ code, name }) => ({
            id: code,
            label: name,
            checked: language.current === code,
            onSelect: () => void language.choose(code),
          }))}
        />
        <Menu
          trigger={<IconButton aria-haspopup="menu" icon="sun" label={t('theme.label')} />}
          entries={THEMES.map((choice) => ({
            id: choice,
            label: t(`theme.${choice}`),
            checked: theme.current === choice,
            onSelect: () => theme.choose(choice),
          }))}
        />
      </footer>
    </div>
  )
}

/** The active folder, and a select for others. */
function Folder({ workspaces }: { workspaces: readonly WorkspaceRow[] }) {
  const t = useT()
  const { workbench, values } = useServices()
  const offered = workbench.meta?.workspaces ?? []
  const samples = new Set(offered.filter((offer) => offer.sample).map((offer) => offer.workspaceId))
  // The feed has only the active folder; the server metadata has the others.
  const folders = [
    ...new Map(
      [...offered, ...workspaces].map((workspace) => [workspace.workspaceId, workspace] as const),
    ).values(),
  ]
  const current = folders.find((workspace) => workspace.workspaceId === workbench.workspaceId)
  if (folders.length < 2 || current === undefined) {
    return (
      <h1 className="min-w-0 flex-1 truncate font-semibold" title={current?.path}>
        {current?.name ?? t('app.name')}
      </h1>
    )
  }
  return (
    <h1 className="-ml-2 flex min-w-0 flex-1">
      <Select
        label={t('sessions.workspace')}
        value={workbench.workspaceId}
        choices={folders.map(({ workspaceId, name, path }) => ({
          value: workspaceId,
          label: samples.has(workspaceId) ? t('sessions.sample') : name,
          hint: path,
        }))}
        onChange={(id) => {
          values.write('workspace', id)
          workbench.openWorkspace(id)
          workbench.openSession(null)
        }}
        className="font-semibold text-ink"
      />
    </h1>
  )
}
