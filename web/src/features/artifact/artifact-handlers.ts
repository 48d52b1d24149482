import type { ArtifactRow, Export } from '@/system/rows/model'
import type { ArtifactDraft, NewArtifact } from '@/system/stores/artifact-store'
import type { Refusal } from '@/system/stores/notice-store'

export type ExportForm = 'file' | 'diff' | 'html' | 'zip'

/** Actions on an artifact. The host stores a draft until it is saved. */
export interface ArtifactHandlers {
  readonly onOpen: (artifactId: string, version: number | null) => void
  readonly onClose: () => void
  readonly onDraft: (artifact: ArtifactRow, draft: ArtifactDraft | null) => void
  readonly onSave: (artifact: ArtifactRow) => void
  readonly onRestore: (artifact: ArtifactRow, version: number) => void
  readonly onRetry: (artifact: ArtifactRow, baseVersion: number) => void
  readonly onNeedVersions: (artifact: ArtifactRow) => void
  readonly onNeedDiff: (artifact: ArtifactRow, from: number, to: number) => void
  readonly onExport: (artifact: ArtifactRow, form: ExportForm, version: number) => void
  readonly onDelete: (artifact: ArtifactRow, file: boolean) => void
  readonly onGoToTurn: (turnId: string) => void
  /** Continue a text in another artifact. */
  readonly onContinue: (artifact: ArtifactRow, successor: ArtifactRow, text: string) => void
  /** Create a new artifact from a draft of this one. */
  readonly onCreate: (artifact: ArtifactRow, draft: NewArtifact) => Promise<Refusal | null>
  readonly onRetryExport: (artifactId: string, exportId: string) => void
  /** Save a finished export as a file. */
  readonly onDownload: (exported: Export) => void
}

/** Actions on the list of artifacts. */
export interface ArtifactListHandlers {
  readonly onOpen: (artifactId: string) => void
  readonly onWriteNew: (draft: NewArtifact) => void
  readonly onCreate: (draft: NewArtifact) => Promise<Refusal | null>
  /** An empty list means all artifacts. */
  readonly onArchive: (artifactIds: readonly string[]) => Promise<Refusal | null>
  readonly onRetryExport: (artifactId: string, exportId: string) => void
  readonly onDownload: (exported: Export) => void
}
