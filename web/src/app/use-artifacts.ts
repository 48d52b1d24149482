/** Which artifact is open beside the conversation, and what can be done with it. */
import { useCallback, useMemo, useState } from 'react'
import type { ArtifactHandlers } from '@/features/artifacts/handlers'
import type { Artifacts } from '@/features/shared/artifacts'
import type { ArtifactRow } from '@/system/rows/model'
import type { Session } from '@/system/workbench/session'
import { useServices } from './services-context'

interface Opened {
  readonly artifactId: string
  readonly version: number | null
}

export interface OpenArtifact {
  readonly all: readonly ArtifactRow[]
  readonly opened: Opened | null
  readonly reader: Artifacts
  readonly close: () => void
}

export function useOpenArtifact(session: Session, show: () => void): OpenArtifact {
  const [opened, setOpened] = useState<Opened | null>(null)
  const panel = session.feed.rows.panel('artifacts')
  // The same array until a row changes: the cards of the conversation are drawn anew only then.
  const all = panel.all()
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
  const { workbench, desk } = useServices()
  const sessionId = session.id
  return useMemo(() => {
    // What was just made is what is looked at next.
    const showNewest = (artifactId: string) => (made: boolean) => {
      if (made) onOpen(artifactId, null)
    }
    return {
      onOpen,
      onClose,
      onGoToTurn,
      onDraft: ({ artifactId }, draft) => desk.write(artifactId, draft),
      onSave: ({ artifactId }) => void desk.save(sessionId, artifactId).then(showNewest(artifactId)),
      onRestore: ({ artifactId, version: newest }, version) =>
        void desk.rollback(sessionId, artifactId, version, newest).then(showNewest(artifactId)),
      onRetry: ({ artifactId }, baseVersion) =>
        void desk.retry(sessionId, artifactId, baseVersion).then(showNewest(artifactId)),
      onNeedVersions: (artifact) => void workbench.attempt(() => desk.readVersions(sessionId, artifact)),
      onNeedDiff: ({ artifactId }, from, to) => void desk.readDiff(sessionId, artifactId, from, to),
      onExport: ({ artifactId }, form, version) =>
        void workbench.attempt(() =>
          workbench.api.command('export_artifact', { sessionId, artifactIds: [artifactId], form, version }),
        ),
      onDelete: ({ artifactId }, file) =>
        void workbench
          .attempt(() =>
            workbench.api.command('delete_artifact', { sessionId, artifactId, confirm: artifactId, file }),
          )
          .then((gone) => {
            if (gone) onClose()
          }),
      addressOf: ({ content, name, form }) =>
        content === null ? '' : workbench.api.blobAddress(content.hash, sessionId, fileName(name || form)),
    }
  }, [workbench, desk, sessionId, onOpen, onClose, onGoToTurn])
}

/** A name that an address can carry; what it cannot is left out. */
function fileName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[^A-Za-z0-9_]+/, '')
  return plain.slice(-200) || 'export'
}
