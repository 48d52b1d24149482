/** The right side panel: details of the turn and the session, or the open artifact. */
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { SingleAgent } from '@/features/agent/add-agent'
import { Roster } from '@/features/agent/roster'
import { TurnDetails } from '@/features/details/turn-details'
import { NamesProvider, useReadOnly, useT } from '@/features/shared/surface'
import type { TeamHandlers } from '@/features/shared/team-handlers'
import type { TurnRow } from '@/system/rows/model'
import type { Session } from '@/system/workbench/session'
import { IconButton } from '@/ui/button'
import type { Tab, TabRequest } from '@/ui/tabs'
import { findSuccessor, type OpenArtifact } from '../artifact/use-artifacts'
import { SidePanel } from '../layout/side-panel'
import type { Panel } from '../layout/use-layout'
import { useSessionNames } from '../rows/use-names'
import { findTurnStatus, type useSessionRows } from '../rows/use-session-rows'

const ArtifactsPanel = lazy(async () => ({ default: (await import('./session-panels')).ArtifactsPanel }))
const ContextOfSession = lazy(async () => ({
  default: (await import('./session-panels')).SessionContextPanel,
}))
const SessionTools = lazy(async () => ({ default: (await import('./session-panels')).SessionToolsPanel }))
const OpenedArtifact = lazy(() => import('../artifact/opened-artifact'))

export function SessionDetails(props: {
  readonly session: Session
  readonly view: ReturnType<typeof useSessionRows>
  readonly turn: TurnRow | null
  readonly panel: Panel
  /** The agent with the open transcript; empty if there is none. */
  readonly openAgentId: string
  readonly handlers: TeamHandlers
  readonly artifacts: OpenArtifact
  readonly onGoToTurn: (turnId: string) => void
  readonly tabRequest: TabRequest | null
}) {
  const t = useT()
  const { session, view, turn, panel, artifacts } = props
  const names = useSessionNames(view)
  const { backRequest: tabRequest, openFromList, close } = useBackToList(props)
  const first = useTeamTabs(props)
  const last = useSessionTabs(props, openFromList)
  const opened = artifacts.opened === null ? null : artifacts.reader.get(artifacts.opened.artifactId)
  if (opened !== null) {
    return (
      <SidePanel panel={panel} side="right" label={t('artifact.title')} wide>
        <NamesProvider value={names}>
          <Suspense fallback={<p className="p-4 text-ink-faint">{t('tool.loading')}</p>}>
            <OpenedArtifact
              key={opened.artifactId}
              session={session}
              artifact={opened}
              successor={findSuccessor(opened, artifacts.all)}
              version={artifacts.opened?.version ?? null}
              onOpen={artifacts.reader.onOpen}
              onClose={close}
              onGoToTurn={props.onGoToTurn}
            />
          </Suspense>
        </NamesProvider>
      </SidePanel>
    )
  }
  return (
    <SidePanel panel={panel} side="right" label={t('details.title')}>
      <div className="flex h-full flex-col">
        <header className="flex h-11 shrink-0 items-center justify-between pr-2 pl-4">
          <h2 className="font-semibold">{t('details.title')}</h2>
          <IconButton icon="close" label={t('app.close_details')} onClick={panel.hide} />
        </header>
        <NamesProvider value={names}>
          <TurnDetails
            turn={turn}
            parts={turn === null ? [] : view.rows.getPanel('parts').listTurn(turn.turnId)}
            status={findTurnStatus(turn, view.threads)}
            sessionId={session.id}
            imported={view.shell !== null && view.shell.source !== null}
            first={first}
            last={last}
            requestedTab={tabRequest}
          />
        </NamesProvider>
      </div>
    </SidePanel>
  )
}

function useTeamTabs({ view, openAgentId, handlers }: Parameters<typeof SessionDetails>[0]): readonly Tab[] {
  const t = useT()
  const { team } = view
  if (team === null) return []
  const content = <Roster team={team} openAgentId={openAgentId} handlers={handlers} />
  return [{ id: 'team', label: t('team.tab'), content }]
}

/** Returns to the list of artifacts if the artifact was opened from it. */
function useBackToList({ artifacts, tabRequest }: Parameters<typeof SessionDetails>[0]) {
  const [back, setBack] = useState<TabRequest | null>(null)
  const fromList = useRef('')
  const { onOpen } = artifacts.reader
  // A new request for a tab takes precedence.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each request is a new object
  useEffect(() => setBack(null), [tabRequest])
  const openFromList = useCallback(
    (artifactId: string, version: number | null) => {
      fromList.current = artifactId
      onOpen(artifactId, version)
    },
    [onOpen],
  )
  const close = () => {
    setBack(artifacts.opened?.artifactId === fromList.current ? { id: 'artifacts' } : null)
    artifacts.close()
  }
  return { backRequest: back ?? tabRequest, openFromList, close }
}

function useSessionTabs(
  { session, view, handlers, artifacts }: Parameters<typeof SessionDetails>[0],
  openFromList: OpenArtifact['reader']['onOpen'],
): readonly Tab[] {
  const t = useT()
  const forReading = useReadOnly()
  const tabs: Tab[] = []
  const renderLazily = (panel: ReactNode) => (
    <Suspense fallback={<p className="text-ink-faint">{t('tool.loading')}</p>}>{panel}</Suspense>
  )
  // Shown without artifacts as well, because it offers to create one.
  tabs.push({
    id: 'artifacts',
    label: t('artifact.title'),
    content: renderLazily(
      <ArtifactsPanel session={session} artifacts={artifacts.all} onOpen={openFromList} />,
    ),
  })
  tabs.push({
    id: 'context',
    label: t('context.tab'),
    content: renderLazily(<ContextOfSession session={session} view={view} />),
  })
  tabs.push({
    id: 'tools',
    label: t('tools.tab'),
    content: renderLazily(<SessionTools session={session} view={view} />),
  })
  if (view.team === null && !forReading) {
    tabs.push({ id: 'team', label: t('team.tab'), content: <SingleAgent handlers={handlers} /> })
  }
  return tabs
}
