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
import { findClockStart } from '@/system/selectors/activity'
import { countAtWork } from '@/system/selectors/team'
import type { Session } from '@/system/workbench/session'
import { IconButton } from '@/ui/button'
import type { TabRequest } from '@/ui/tabs'
import { useOpenArtifact } from '../artifact/use-artifacts'
import type { Panel } from '../layout/use-layout'
import type { SessionCommands } from '../palette-commands'
import { useSessionRows } from '../rows/use-session-rows'
import { useServices } from '../services-context'
import { AgentInput, TranscriptHead, useOpenForTeam, useTeamArea } from '../team/team-area'
import { useSignalByFrame } from '../use-signal'
import { TrustNotice } from '../workspace/trust-notice'
import { SessionDetails } from './session-details'
import { SessionView } from './session-view'

const TeamView = lazy(() => import('../team/team-views'))

export interface ActiveSessionProps {
  readonly session: Session
  readonly card: SessionCard | null
  readonly showSidebar: ReactNode
  readonly details: Panel
  readonly inputRef: RefObject<HTMLTextAreaElement | null>
  readonly onOffers: (offers: SessionCommands) => void
}

/** The active session: header with status, conversation and details. */
export function ActiveSession(props: ActiveSessionProps) {
  const t = useT()
  const { workbench } = useServices()
  const { session, details, inputRef } = props
  const [openAgentId, setOpenAgentId] = useState<string | null>(null)
  const view = useSessionRows(session, openAgentId)
  const { team } = view
  const [selected, setSelected] = useState<string | null>(null)
  const showDetails = details.show
  const inspectTurn = useCallback(
    (turnId: string) => {
      setSelected(turnId)
      showDetails()
    },
    [showDetails],
  )

  const artifacts = useOpenArtifact(session, showDetails)
  const [tabRequest, setTabRequest] = useState<TabRequest | null>(null)
  const closeArtifact = artifacts.close
  const showTab = useCallback(
    (id: string) => {
      closeArtifact()
      setTabRequest({ id })
      showDetails()
    },
    [closeArtifact, showDetails],
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
    // The button disappears with the turn, so move the focus to the message field.
    inputRef.current?.focus()
    void workbench.attempt(() =>
      workbench.api.send('interrupt_turn', { sessionId: session.id, threadId, turnId }),
    )
  }, [workbench, session, running?.turnId, threadId, inputRef])
  const resume = useCallback(() => {
    void workbench.attempt(() => workbench.api.send('resume_thread', { sessionId: session.id, threadId }))
  }, [workbench, session, threadId])

  const {
    look: teamView,
    onLook: onTeamView,
    openAgent,
    handlers,
    newJob: openNewJob,
    ...opening
  } = useTeamArea(session, view, details, setOpenAgentId)
  useOpenForTeam(details, team !== null)
  const working = team === null ? 0 : countAtWork(team.agents)
  const canInterrupt = running !== null
  const canResume = paused !== null
  const canDecide = view.actions.length > 0
  const isReadOnly = view.shell !== null && (view.shell.source !== null || view.shell.hasUnknownFacts)
  const onOffers = props.onOffers
  useEffect(
    () =>
      onOffers({
        canInterrupt,
        canResume,
        canDecide,
        isReadOnly,
        atWork: working,
        interrupt,
        resume,
        showTab,
        openNewJob: openNewJob,
      }),
    [
      onOffers,
      canInterrupt,
      canResume,
      canDecide,
      isReadOnly,
      working,
      interrupt,
      resume,
      showTab,
      openNewJob,
    ],
  )

  const turn =
    view.turns.find((turn) => turn.turnId === selected) ??
    (view.agent === null ? running : null) ??
    findNewestTurn(view.turns)
  const title = props.card?.title || view.shell?.title || t('sessions.untitled')
  return (
    <ReadOnlyProvider value={isReadOnly}>
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
            runningSince={findClockStart(running)}
            onInterrupt={interrupt}
          />
          <SessionDiagnostics session={session} />
          <IconButton
            icon="details"
            label={t(details.open ? 'app.close_details' : 'app.open_details')}
            aria-pressed={details.open}
            onClick={details.toggle}
          />
        </header>
        <TrustNotice folded />
        {team !== null && (
          <TeamBar
            team={team}
            view={teamView}
            onView={onTeamView}
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
            team === null || teamView === 'conversation'
              ? null
              : (onNeedParts) => (
                  <Suspense fallback={<p className="flex-1 p-4 text-ink-faint">{t('tool.loading')}</p>}>
                    <TeamView
                      session={session}
                      team={team}
                      view={teamView}
                      openAgentId={view.agent?.agentId ?? team.row.lead}
                      run={opening.run}
                      job={opening.job}
                      takesFocus={opening.jobAsked}
                      handlers={handlers}
                      onNeedParts={onNeedParts}
                    />
                  </Suspense>
                )
          }
          head={team !== null && <TranscriptHead view={view} onBack={() => openAgent(team.row.lead)} />}
          toAgent={view.agent === null || isReadOnly ? null : <AgentInput view={view} handlers={handlers} />}
        />
      </main>
      <SessionDetails
        session={session}
        view={view}
        turn={turn}
        panel={details}
        openAgentId={teamView === 'conversation' ? (view.agent?.agentId ?? team?.row.lead ?? '') : ''}
        handlers={handlers}
        artifacts={artifacts}
        onGoToTurn={goToTurn}
        tabRequest={tabRequest}
      />
      {opening.dialog}
    </ReadOnlyProvider>
  )
}

/** The newest turn that is not queued. */
function findNewestTurn(turns: readonly TurnRow[]): TurnRow | null {
  return turns.findLast(hasBegun) ?? null
}

/** A separate component, so that a new timing re-renders only this. */
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
      [t('details.connection'), connection === 'live' ? t('connection.live') : connection],
      [t('details.version'), meta?.version ?? t('app.unknown')],
      [t('details.store'), meta?.storeId ?? t('app.unknown')],
      [t('details.runtime'), meta?.runtimeId ?? t('app.unknown')],
    ],
    [t, meta, connection],
  )
}
