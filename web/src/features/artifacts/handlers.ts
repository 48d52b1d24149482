import type { ArtifactRow, Export } from '@/system/rows/model'
import type { ArtifactDraft } from '@/system/workbench/artifact-desk'

export type ExportForm = 'file' | 'diff' | 'html' | 'zip'

/** What a person can do with the artifacts of a session. What is written stays in the host until it is saved. */
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
  /** Where a finished export is downloaded from. */
  readonly addressOf: (made: Export) => string
}
