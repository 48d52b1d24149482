/** Icons, tones and predicates of artifact kinds. */
import type { ArtifactRow, Version } from '@/system/rows/model'
import type { IconName } from '@/ui/icon'
import type { Tone } from '@/ui/marks'

export const KIND_ICONS: Readonly<Record<ArtifactRow['artifactKind'], IconName>> = {
  code: 'code',
  document: 'document',
  data: 'table',
  image: 'image',
  binary: 'file',
  text: 'document',
}

export const STATUS_TONES: Readonly<Record<ArtifactRow['status'], Tone>> = {
  saved: 'good',
  saving: 'accent',
  conflict: 'warn',
  failed: 'bad',
  deleted: 'quiet',
  unknown: 'warn',
}

/** Whether an artifact exists and has a version. */
export function isAvailable({ status, version }: ArtifactRow): boolean {
  return status !== 'deleted' && version > 0
}

export function isText({ artifactKind }: ArtifactRow): boolean {
  return artifactKind !== 'image' && artifactKind !== 'binary'
}

export function isMarkdown({ artifactKind, path }: ArtifactRow): boolean {
  return artifactKind === 'document' && (path === '' || /\.(?:md|markdown|mdx)$/i.test(path))
}

/** All versions in order. Versions of the row replace those that were read, which may be older. */
export function mergeVersions(row: readonly Version[], read: readonly Version[] | null): readonly Version[] {
  const byNumber = new Map([...(read ?? []), ...row].map((version) => [version.version, version] as const))
  return [...byNumber.values()].toSorted((a, b) => a.version - b.version)
}
