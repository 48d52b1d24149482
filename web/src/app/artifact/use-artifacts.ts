/** The open artifact and the handlers of artifacts. */
import { useCallback, useMemo, useState } from 'react'
import type { ArtifactHandlers, ArtifactListHandlers } from '@/features/artifact/artifact-handlers'
import type { Artifacts } from '@/features/shared/surface'
import { saveFile } from '@/system/local/save-file'
import type { ArtifactRow, Export } from '@/system/rows/model'
import type { Session } from '@/system/workbench/session'
import type { Services } from '../services'
import { useServices } from '../services-context'

interface OpenVersion {
  readonly artifactId: string
  readonly version: number | null
}

export interface OpenArtifact {
  readonly all: readonly ArtifactRow[]
  readonly opened: OpenVersion | null
  readonly reader: Artifacts
  readonly close: () => void
}

export function useOpenArtifact(session: Session, show: () => void): OpenArtifact {
  const [opened, setOpened] = useState<OpenVersion | null>(null)
  const panel = session.feed.rows.getPanel('artifacts')
  // The array is the same until a row changes, so the conversation's cards re-render only then.
  const all = panel.list()
  const onOpen = useCallback(
    (artifactId: string, version: number | null) => {
      setOpened({ artifactId, version })
      show()
    },
    [show],
  )
  const close = useCallback(() => setOpened(null), [])
  const reader = useMemo<Artifacts>(
    () => ({ get: (id) => all.find((row) => row.artifactId === id) ?? null, onOpen }),
    [all, onOpen],
  )
  return { all, opened, reader, close }
}

export function useArtifactHandlers(
  session: Session,
  { onOpen, onClose, onGoToTurn }: Pick<ArtifactHandlers, 'onOpen' | 'onClose' | 'onGoToTurn'>,
): ArtifactHandlers {
  const { workbench, artifacts } = useServices()
  const sessionId = session.id
  return useMemo(() => {
    // Show what was just created.
    const showNewest = (artifactId: string) => (isCreated: boolean) => {
      if (isCreated) onOpen(artifactId, null)
    }
    return {
      onOpen,
      onClose,
      onGoToTurn,
      onDraft: ({ artifactId }, draft) => artifacts.write(artifactId, draft),
      onSave: ({ artifactId }) => void artifacts.save(sessionId, artifactId).then(showNewest(artifactId)),
      onRestore: ({ artifactId, version: newest }, version) =>
        void artifacts.rollback(sessionId, artifactId, version, newest).then(showNewest(artifactId)),
      onRetry: ({ artifactId }, baseVersion) =>
        void artifacts.retry(sessionId, artifactId, baseVersion).then(showNewest(artifactId)),
      onNeedVersions: (artifact) => void workbench.attempt(() => artifacts.readVersions(sessionId, artifact)),
      onNeedDiff: ({ artifactId }, from, to) => void artifacts.readDiff(sessionId, artifactId, from, to),
      onExport: ({ artifactId }, form, version) =>
        void workbench.attempt(() =>
          workbench.api.send('export_artifact', { sessionId, artifactIds: [artifactId], form, version }),
        ),
      onDelete: ({ artifactId }, file) =>
        void workbench
          .attempt(() =>
            workbench.api.send('delete_artifact', { sessionId, artifactId, confirm: artifactId, file }),
          )
          .then((isDeleted) => {
            if (isDeleted) onClose()
          }),
      onContinue: ({ artifactId }, successor, text) => {
        // The draft has no base version here, so saving it is a separate choice.
        artifacts.write(successor.artifactId, { text, base: 0 })
        artifacts.write(artifactId, null)
        onOpen(successor.artifactId, null)
      },
      onCreate: ({ artifactId }, draft) =>
        workbench.captureRefusal(async () => {
          const createdId = await artifacts.create(sessionId, draft)
          artifacts.write(artifactId, null)
          onOpen(createdId, null)
        }),
      ...exportHandlers({ workbench }, sessionId),
    }
  }, [workbench, artifacts, sessionId, onOpen, onClose, onGoToTurn])
}

/** Handlers of the list of artifacts. */
export function useArtifactList(session: Session, onOpen: ArtifactHandlers['onOpen']): ArtifactListHandlers {
  const { workbench, artifacts } = useServices()
  const sessionId = session.id
  return useMemo(
    () => ({
      onOpen: (artifactId) => onOpen(artifactId, null),
      onWriteNew: (draft) => artifacts.writeNewDraft(sessionId, draft),
      onCreate: (draft) =>
        workbench.captureRefusal(async () => {
          const artifactId = await artifacts.create(sessionId, draft)
          artifacts.writeNewDraft(sessionId, null)
          onOpen(artifactId, null)
        }),
      onArchive: (artifactIds) =>
        workbench.captureRefusal(() =>
          workbench.api.send('export_artifact', { sessionId, artifactIds, form: 'zip' }),
        ),
      ...exportHandlers({ workbench }, sessionId),
    }),
    [workbench, artifacts, sessionId, onOpen],
  )
}

function exportHandlers({ workbench }: Pick<Services, 'workbench'>, sessionId: string) {
  return {
    onRetryExport: (artifactId: string, exportId: string) =>
      void workbench.attempt(() => workbench.api.send('retry_artifact', { sessionId, artifactId, exportId })),
    onDownload: ({ content, name, form }: Export) => {
      if (content === null) return
      void workbench.attempt(async () =>
        saveFile(await workbench.api.readFile(content.hash, sessionId), buildFileName(name || form)),
      )
    },
  }
}

/** Find the artifact that replaced a deleted one: same path, same folder. */
export function findSuccessor(deleted: ArtifactRow, all: readonly ArtifactRow[]): ArtifactRow | null {
  if (deleted.status !== 'deleted' || deleted.path === '') return null
  const isPresent = (row: ArtifactRow) =>
    row.status !== 'deleted' && row.path === deleted.path && row.worktree === deleted.worktree
  return all.findLast(isPresent) ?? null
}

/** Remove characters that a file name cannot contain. */
function buildFileName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[^A-Za-z0-9_]+/, '')
  return plain.slice(-200) || 'export'
}
