import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { DeleteSessionDialog } from '@/features/session/delete-session-dialog'
import type { SettingsSectionName } from '@/features/settings/settings-dialog'
import { useT } from '@/features/shared/surface'
import type { AgentOffer } from '@/features/shared/team-handlers'
import type { SessionCard } from '@/system/rows/model'
import { NO_SIGNAL } from '@/system/signal'
import type { Workbench } from '@/system/workbench/workbench'
import { IconButton } from '@/ui/button'
import { FirstView } from '../first-page/first-view'
import { useNewJob } from '../job/use-new-job'
import { SidePanel } from '../layout/side-panel'
import { useLayout } from '../layout/use-layout'
import { buildPaletteCommands, type CommandContext, type SessionCommands } from '../palette-commands'
import { useServices } from '../services-context'
import { useSessionView } from '../session/load-session'
import { PackedEvidence } from '../session/packed-evidence'
import { readAgentOffers } from '../team/use-team-handlers'
import { useSignal, useSignalByFrame } from '../use-signal'
import { BroadFolderQuestion } from '../workspace/broad-folder'
import { TrustNotice } from '../workspace/trust-notice'
import { Sidebar } from './sidebar'
import { usePresence } from './use-presence'
import { useRoute } from './use-route'

const AddDialog = lazy(async () => ({ default: (await import('@/features/agent/add-agent')).AddDialog }))
const Palette = lazy(() => import('@/features/palette/palette'))
const SettingsPage = lazy(() => import('../settings/settings-page'))

/** The frame of the page: sessions, active session or first page, details. */
export function Shell() {
  const t = useT()
  const services = useServices()
  const { workbench } = services
  useSignal(workbench.changes)
  useSignalByFrame(workbench.workspaceFeed?.rows.changes ?? NO_SIGNAL)
  useRoute(workbench)
  usePresence(workbench)
  useMetaRefresh(workbench)
  const ActiveSession = useSessionView()
  const layout = useLayout()
  const input = useRef<HTMLTextAreaElement>(null)
  const [palette, setPalette] = useState(false)
  const [adding, setAdding] = useState<readonly AgentOffer[] | null>(null)
  const [settings, setSettings] = useState<SettingsSectionName | null>(null)
  const [deleting, setDeleting] = useState<SessionCard | null>(null)
  const [offers, setOffers] = useState<SessionCommands>(NOTHING_OFFERED)

  const rows = workbench.workspaceFeed?.rows
  const sessions = rows?.getPanel('sessions').list() ?? NO_SESSIONS
  const active = workbench.active
  const card = active === null ? null : (rows?.getPanel('sessions').get(active.id) ?? null)
  const folder = workbench.meta?.workspaces.find(
    (workspace) => workspace.workspaceId === workbench.workspaceId,
  )

  const decide = useCallback(() => document.getElementById('pending-action')?.focus(), [])
  useShortcuts({ openPalette: () => setPalette(true), decide })
  useTitle(card?.title ?? '', sessions, active === null ? 0 : offers.atWork)

  const open = (sessionId: string | null) => {
    workbench.openSession(sessionId)
    if (!layout.sidebar.fits) layout.sidebar.hide()
  }
  const remove = async (session: SessionCard) => {
    setDeleting(null)
    const { sessionId } = session
    const isDeleted = await workbench.attempt(() =>
      workbench.api.send('delete_session', { sessionId, confirm: sessionId }),
    )
    if (isDeleted) workbench.forget(sessionId)
  }
  const firstJob = useNewJob(null, open)
  const context: CommandContext = {
    t,
    services,
    sessions,
    active: card,
    ...offers,
    openNewJob: active === null ? firstJob.ask : offers.openNewJob,
    decide,
    compose: () => input.current?.focus(),
    toggleSidebar: layout.sidebar.toggle,
    toggleDetails: layout.details.toggle,
    askToDelete: setDeleting,
    openSettings: setSettings,
    askToAdd: () => void (active && readAgentOffers(workbench, active.id).then(setAdding)),
  }
  const showSidebar = layout.sidebar.open ? null : (
    <IconButton icon="sidebar" label={t('app.open_sidebar')} onClick={layout.sidebar.show} />
  )
  return (
    <div className="flex h-full">
      <button
        type="button"
        onClick={() => input.current?.focus()}
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-md focus:bg-surface focus:px-3 focus:py-1"
      >
        {t('app.skip')}
      </button>
      <SidePanel panel={layout.sidebar} side="left" label={t('sessions.title')}>
        <Sidebar
          sessions={sessions}
          workspaces={rows?.getPanel('workspaces').list() ?? []}
          activeId={active?.id ?? null}
          onOpen={open}
          onDelete={setDeleting}
          onPalette={() => setPalette(true)}
          onSettings={() => setSettings('models')}
          onHide={layout.sidebar.hide}
        />
      </SidePanel>
      {active === null ? (
        <main className="flex min-w-0 flex-1 flex-col">
          {showSidebar && <div className="flex h-11 shrink-0 items-center px-2">{showSidebar}</div>}
          <TrustNotice />
          <FirstView
            key={workbench.workspaceId}
            sessions={sessions}
            folder={folder?.name ?? t('app.name')}
            sample={folder?.sample ?? false}
            inputRef={input}
            onSettings={setSettings}
          />
        </main>
      ) : ActiveSession === null ? (
        <main className="flex-1" />
      ) : (
        <ActiveSession
          key={active.id}
          session={active}
          card={card}
          showSidebar={showSidebar}
          details={layout.details}
          inputRef={input}
          onOffers={setOffers}
        />
      )}
      {palette && (
        <Suspense fallback={null}>
          <Palette
            commands={buildPaletteCommands(context)}
            onRun={(command) => {
              // Close the palette first: while it is open, nothing behind it can take the focus.
              flushSync(() => setPalette(false))
              command.perform()
            }}
            onClose={() => setPalette(false)}
          />
        </Suspense>
      )}
      <PackedEvidence />
      <BroadFolderQuestion />
      {firstJob.dialog}
      {settings !== null && (
        <Suspense fallback={null}>
          <SettingsPage section={settings} onClose={() => setSettings(null)} />
        </Suspense>
      )}
      {adding !== null && active !== null && (
        <Suspense fallback={null}>
          <AddDialog
            agents={active.feed.rows.getPanel('agents').list()}
            offers={adding}
            onAdd={(agent) =>
              workbench.captureRefusal(() => workbench.api.send('add_agent', { sessionId: active.id, agent }))
            }
            onDone={() => setAdding(null)}
          />
        </Suspense>
      )}
      {deleting !== null && (
        <DeleteSessionDialog
          session={deleting}
          onDelete={() => void remove(deleting)}
          onClose={() => setDeleting(null)}
        />
      )}
    </div>
  )
}

const NO_SESSIONS: readonly SessionCard[] = []
const NOTHING = () => {}
const NOTHING_OFFERED: SessionCommands = {
  canInterrupt: false,
  canResume: false,
  canDecide: false,
  isReadOnly: false,
  atWork: 0,
  interrupt: NOTHING,
  resume: NOTHING,
  showTab: NOTHING,
  openNewJob: NOTHING,
}

/** Reads the server metadata again when the page gets the focus. */
function useMetaRefresh(workbench: Workbench) {
  useEffect(() => {
    const refresh = () => void workbench.refreshMeta()
    window.addEventListener('focus', refresh)
    return () => window.removeEventListener('focus', refresh)
  }, [workbench])
}

function useShortcuts({ openPalette: palette, decide }: { openPalette: () => void; decide: () => void }) {
  const latest = useRef({ palette, decide })
  latest.current = { palette, decide }
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      if (event.key === 'k') latest.current.palette()
      else if (event.key === 'j') latest.current.decide()
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
}

/** Shows in the tab's title how many decisions are waiting. */
function useTitle(title: string, sessions: readonly SessionCard[], working: number) {
  const t = useT()
  const needed = sessions.filter((session) => session.attention === 'needs_input').length
  useEffect(() => {
    const name = title || t('app.name')
    const text = working > 0 ? t('app.title_working', { title: name, working }) : name
    if (needed > 0) document.title = t('app.title_attention', { count: needed, title: text })
    else document.title = title === '' ? text : t('app.title', { title: text })
  }, [t, title, needed, working])
}
