import {
  lazy,
  type ReactNode,
  type RefObject,
  Suspense,
  useCallback,
  useEffect,
  useMemo,
  useState,
} from 'react'
import { ReadOnlyProvider, useT } from '@/features/shared/surface'
import { Diagnostics } from '@/features/status/diagnostics'
import { StatusLine } from '@/features/status/status-line'
import { TeamBar } from '@/features/team/team-bar'
import type { SessionCard, TurnRow } from '@/system/rows/model'
import { hasBegun } from '@/system/rows/model'
import { clockStart } from '@/system/selectors/activity'
import { countAtWork } from '@/system/selectors/team'
import type { Session } from '@/system/workbench/session'
import { IconButton } from '@/ui/button'
import type { Wanted } from '@/ui/tabs'
import { useOpenArtifact } from '../artifact/use-artifacts'
import type { Panel } from '../layout/use-layout'
import type { SessionOffers } from '../palette-commands'
import { useSessionRows } from '../rows/use-session-rows'
import { useServices } from '../services-context'
import { ToAgent, TranscriptHead, useOpening, useOpensForTeam } from '../team/team-area'
import { useSignalByFrame } from '../use-signal'
import { TrustNotice } from '../workspace/trust-notice'
import { Details } from './session-details'
import { SessionView } from './session-view'

const TeamView = lazy(() => import('../team/team-views'))

export interface ActiveSessionProps {
  readonly session: Session
  readonly card: SessionCard | null
  readonly showSidebar: ReactNode
  readonly inspector: Panel
  readonly inputRef: RefObject<HTMLTextAreaElement | null>
  readonly onOffers: (offers: SessionOffers) => void
}

/** The session on the screen: its header with the status, its conversation, its details. */
export function ActiveSession(props: ActiveSessionProps) {
  const t = useT()
  const { workbench } = useServices()
  const { session, inspector, inputRef } = props
  const [shown, setShown] = useState<string | null>(null)
  const view = useSessionRows(session, shown)
  const { team } = view
  const [selected, setSelected] = useState<string | null>(null)
  const showInspector = inspector.show
  const inspectTurn = useCallback(
    (turnId: string) => {
      setSelected(turnId)
      showInspector()
    },
    [showInspector],
  )

  const artifacts = useOpenArtifact(session, showInspector)
  const [wanted, setWanted] = useState<Wanted | null>(null)
  const closeArtifact = artifacts.close
  const showTab = useCallback(
    (id: string) => {
      closeArtifact()
      setWanted({ id })
      showInspector()
    },
    [closeArtifact, showInspector],
  )
  const showContext = useCallback(() => showTab('context'), [showTab])
  const goToTurn = useCallback(
    (turnId: string) => {
      setSelected(turnId)
      showTab('turn')
    },
    [showTab],
  )
  const running = view.running
  const paused = view.status?.paused ?? null
  const threadId = view.status?.threadId ?? null
  const interrupt = useCallback(() => {
    const turnId = running?.turnId
    if (turnId === undefined) return
    // The button goes with the turn that it stops; what comes next is typed.
    inputRef.current?.focus()
    void workbench.attempt(() =>
      workbench.api.command('interrupt_turn', { sessionId: session.id, threadId, turnId }),
    )
  }, [workbench, session, running?.turnId, threadId, inputRef])
  const resume = useCallback(() => {
    void workbench.attempt(() => workbench.api.command('resume_thread', { sessionId: session.id, threadId }))
  }, [workbench, session, threadId])

  const { look, onLook, openAgent, handlers, newJob, ...opening } = useOpening(
    session,
    view,
    inspector,
    setShown,
  )
  useOpensForTeam(inspector, team !== null)
  const working = team === null ? 0 : countAtWork(team.agents)
  const canInterrupt = running !== null
  const canResume = paused !== null
  const canDecide = view.actions.length > 0
  const forReading = view.shell !== null && (view.shell.source !== null || view.shell.hasUnknownFacts)
  const onOffers = props.onOffers
  useEffect(
    () =>
      onOffers({
        canInterrupt,
        canResume,
        canDecide,
        forReading,
        atWork: working,
        interrupt,
        resume,
        showTab,
        newJob,
      }),
    [onOffers, canInterrupt, canResume, canDecide, forReading, working, interrupt, resume, showTab, newJob],
  )

  const turn =
    view.turns.find((turn) => turn.turnId === selected) ??
    (view.agent === null ? running : null) ??
    newestBegun(view.turns)
  const title = props.card?.title || view.shell?.title || t('sessions.untitled')
  return (
    <ReadOnlyProvider value={forReading}>
      <main className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-11 shrink-0 items-center gap-2 border-b border-line pr-2 pl-4 max-sm:pl-2">
          {props.showSidebar}
          <h2
            className="max-w-[36%] truncate font-semibold max-sm:max-w-none max-sm:min-w-0 max-sm:flex-1"
            title={title}
          >
            {title}
          </h2>
          <span aria-hidden="true" className="h-4 w-px bg-line-strong max-sm:hidden" />
          <StatusLine
            status={view.status}
            session={view.shell?.state ?? null}
            runningSince={clockStart(running)}
            onInterrupt={interrupt}
          />
          <SessionDiagnostics session={session} />
          <IconButton
            icon="inspector"
            label={t(inspector.open ? 'app.close_inspector' : 'app.open_inspector')}
            aria-pressed={inspector.open}
            onClick={inspector.toggle}
          />
        </header>
        <TrustNotice folded />
        {team !== null && (
          <TeamBar
            team={team}
            view={look}
            onView={onLook}
            onOpenAgent={openAgent}
            onResume={handlers.onResume}
            openAgentId={view.agent?.agentId ?? team.row.lead}
            onOpenJob={handlers.onOpenJob}
          />
        )}
        <SessionView
          session={session}
          view={view}
          inputRef={props.inputRef}
          onInspectTurn={inspectTurn}
          artifacts={artifacts.reader}
          onShowContext={showContext}
          instead={
            team === null || look === 'conversation'
              ? null
              : (onNeedParts) => (
                  <Suspense fallback={<p className="flex-1 p-4 text-ink-faint">{t('tool.loading')}</p>}>
                    <TeamView
                      session={session}
                      team={team}
                      view={look}
                      shown={view.agent?.agentId ?? team.row.lead}
                      run={opening.run}
                      job={opening.job}
                      jobAsked={opening.jobAsked}
                      handlers={handlers}
                      onNeedParts={onNeedParts}
                    />
                  </Suspense>
                )
          }
          head={team !== null && <TranscriptHead view={view} onBack={() => openAgent(team.row.lead)} />}
          toAgent={view.agent === null || forReading ? null : <ToAgent view={view} handlers={handlers} />}
        />
      </main>
      <Details
        session={session}
        view={view}
        turn={turn}
        panel={inspector}
        shownAgent={look === 'conversation' ? (view.agent?.agentId ?? team?.row.lead ?? '') : ''}
        handlers={handlers}
        artifacts={artifacts}
        onGoToTurn={goToTurn}
        wanted={wanted}
      />
      {opening.dialog}
    </ReadOnlyProvider>
  )
}

/** A turn that waits has nothing to tell yet. */
function newestBegun(turns: readonly TurnRow[]): TurnRow | null {
  return turns.findLast(hasBegun) ?? null
}

/** Outside the view of the session, so that a figure renders nothing but itself. */
function SessionDiagnostics({ session }: { session: Session }) {
  const { timings } = useServices().workbench
  useSignalByFrame(timings.changes)
  return <Diagnostics timings={timings.all} system={useSystem(session)} />
}

function useSystem(session: Session): readonly (readonly [string, string])[] {
  const t = useT()
  const { workbench } = useServices()
  const meta = workbench.meta
  const { connection } = session.feed
  return useMemo(
    () => [
      [t('inspector.connection'), connection === 'live' ? t('connection.live') : connection],
      [t('inspector.version'), meta?.version ?? t('app.unknown')],
      [t('inspector.store'), meta?.storeId ?? t('app.unknown')],
      [t('inspector.runtime'), meta?.runtimeId ?? t('app.unknown')],
    ],
    [t, meta, connection],
  )
}
