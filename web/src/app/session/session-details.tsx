/** The right side: the details of a turn and of the session, or the workspace of the artifact that is open. */
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { SingleAgent } from '@/features/agent/add-agent'
import { Roster } from '@/features/agent/roster'
import { Inspector } from '@/features/inspector/inspector'
import { NamesProvider, useReadOnly, useT } from '@/features/shared/surface'
import type { TeamHandlers } from '@/features/shared/team-handlers'
import type { TurnRow } from '@/system/rows/model'
import type { Session } from '@/system/workbench/session'
import { IconButton } from '@/ui/button'
import type { Tab, Wanted } from '@/ui/tabs'
import { findSuccessor, type OpenArtifact } from '../artifact/use-artifacts'
import { Side } from '../layout/side-panel'
import type { Panel } from '../layout/use-layout'
import { useSessionNames } from '../rows/use-names'
import { statusOf, type useSessionRows } from '../rows/use-session-rows'

const ArtifactsPanel = lazy(async () => ({ default: (await import('./session-panels')).ArtifactsPanel }))
const ContextOfSession = lazy(async () => ({ default: (await import('./session-panels')).ContextOfSession }))
const SessionTools = lazy(async () => ({ default: (await import('./session-panels')).SessionTools }))
const OpenedArtifact = lazy(() => import('../artifact/opened-artifact'))

export function Details(props: {
  readonly session: Session
  readonly view: ReturnType<typeof useSessionRows>
  readonly turn: TurnRow | null
  readonly panel: Panel
  /** Whose transcript is on the screen; empty where none is. */
  readonly shownAgent: string
  readonly handlers: TeamHandlers
  readonly artifacts: OpenArtifact
  readonly onGoToTurn: (turnId: string) => void
  readonly wanted: Wanted | null
}) {
  const t = useT()
  const { session, view, turn, panel, artifacts } = props
  const names = useSessionNames(view)
  const { wanted, openFromList, close } = useWayBack(props)
  const first = useFirst(props)
  const last = useLast(props, openFromList)
  const opened = artifacts.opened === null ? null : artifacts.reader.get(artifacts.opened.artifactId)
  if (opened !== null) {
    return (
      <Side panel={panel} side="right" label={t('artifact.title')} wide>
        <NamesProvider value={names}>
          <Suspense fallback={<p className="p-4 text-ink-faint">{t('tool.loading')}</p>}>
            <OpenedArtifact
              key={opened.artifactId}
              session={session}
              artifact={opened}
              successor={findSuccessor(opened, artifacts.all)}
              asked={artifacts.opened?.version ?? null}
              onOpen={artifacts.reader.onOpen}
              onClose={close}
              onGoToTurn={props.onGoToTurn}
            />
          </Suspense>
        </NamesProvider>
      </Side>
    )
  }
  return (
    <Side panel={panel} side="right" label={t('inspector.title')}>
      <div className="flex h-full flex-col">
        <header className="flex h-11 shrink-0 items-center justify-between pr-2 pl-4">
          <h2 className="font-semibold">{t('inspector.title')}</h2>
          <IconButton icon="close" label={t('app.close_inspector')} onClick={panel.hide} />
        </header>
        <NamesProvider value={names}>
          <Inspector
            turn={turn}
            parts={turn === null ? [] : view.rows.panel('parts').ofTurn(turn.turnId)}
            status={statusOf(turn, view.threads)}
            sessionId={session.id}
            imported={view.shell !== null && view.shell.source !== null}
            first={first}
            last={last}
            requestedTab={wanted}
          />
        </NamesProvider>
      </div>
    </Side>
  )
}

function useFirst({ view, shownAgent, handlers }: Parameters<typeof Details>[0]): readonly Tab[] {
  const t = useT()
  const { team } = view
  if (team === null) return []
  const content = <Roster team={team} openAgentId={shownAgent} handlers={handlers} />
  return [{ id: 'team', label: t('team.tab'), content }]
}

/** Who came from the list of artifacts goes back to it. */
function useWayBack({ artifacts, wanted }: Parameters<typeof Details>[0]) {
  const [back, setBack] = useState<Wanted | null>(null)
  const fromList = useRef('')
  const { onOpen } = artifacts.reader
  // What is asked for elsewhere comes before the way back.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each wish is another object
  useEffect(() => setBack(null), [wanted])
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
  return { wanted: back ?? wanted, openFromList, close }
}

function useLast(
  { session, view, handlers, artifacts }: Parameters<typeof Details>[0],
  openFromList: OpenArtifact['reader']['onOpen'],
): readonly Tab[] {
  const t = useT()
  const forReading = useReadOnly()
  const tabs: Tab[] = []
  const lazily = (panel: ReactNode) => (
    <Suspense fallback={<p className="text-ink-faint">{t('tool.loading')}</p>}>{panel}</Suspense>
  )
  // There also where there are none: it says so, and one can be made.
  tabs.push({
    id: 'artifacts',
    label: t('artifact.title'),
    content: lazily(<ArtifactsPanel session={session} artifacts={artifacts.all} onOpen={openFromList} />),
  })
  tabs.push({
    id: 'context',
    label: t('context.tab'),
    content: lazily(<ContextOfSession session={session} view={view} />),
  })
  tabs.push({
    id: 'tools',
    label: t('tools.tab'),
    content: lazily(<SessionTools session={session} view={view} />),
  })
  if (view.team === null && !forReading) {
    tabs.push({ id: 'team', label: t('team.tab'), content: <SingleAgent handlers={handlers} /> })
  }
  return tabs
}
