import type { ArtifactRow, Export } from '@/system/rows/model'
import type { ArtifactDraft, NewArtifact } from '@/system/stores/artifact-store'
import type { Refusal } from '@/system/stores/notice-store'

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
  /** Go on with a text in another artifact. */
  readonly onGoOn: (artifact: ArtifactRow, successor: ArtifactRow, text: string) => void
  /** Make a new artifact of what was written for this one. */
  readonly onMake: (artifact: ArtifactRow, asked: NewArtifact) => Promise<Refusal | null>
  readonly onMakeAgain: (artifactId: string, exportId: string) => void
  /** Save a finished export as a file. */
  readonly onDownload: (made: Export) => void
}

/** What a person can do with all of them. */
export interface ArtifactListHandlers {
  readonly onOpen: (artifactId: string) => void
  readonly onWriteNew: (draft: NewArtifact) => void
  readonly onMake: (asked: NewArtifact) => Promise<Refusal | null>
  /** No ids stand for all that there are. */
  readonly onArchive: (artifactIds: readonly string[]) => Promise<Refusal | null>
  readonly onMakeAgain: (artifactId: string, exportId: string) => void
  readonly onDownload: (made: Export) => void
}
