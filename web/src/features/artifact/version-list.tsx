import { formatBytes, formatClockTime } from '@/system/format/numbers'
import type { ArtifactRow, Version } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Badge } from '@/ui/marks'
import { useNames, useT } from '../shared/surface'
import { LineCounts } from './artifact-card'

/** All versions with their author and step, the newest first. */
export function VersionList(props: {
  readonly artifact: ArtifactRow
  readonly versions: readonly Version[]
  readonly openVersion: number
  readonly onShow: (version: number) => void
  readonly onCompare: (from: number, to: number) => void
  readonly onRestore: (version: number) => void
  readonly onGoToTurn: (turnId: string) => void
  readonly onNeedAll: (() => void) | null
}) {
  const t = useT()
  const { artifact, versions } = props
  return (
    <>
      <ol aria-label={t('artifact.versions')} className="divide-y divide-line">
        {versions.toReversed().map((version) => (
          <li key={version.version} className="py-2">
            <p className="flex flex-wrap items-center gap-x-2">
              <span className="tabular font-semibold">
                {t('artifact.version', { version: version.version })}
              </span>
              <VersionAuthor version={version} />
              <LineCounts added={version.added} removed={version.removed} />
              {version.version === artifact.version && <Badge tone="good">{t('artifact.newest')}</Badge>}
              {version.version === props.openVersion && <Badge tone="accent">{t('artifact.selected')}</Badge>}
            </p>
            <p className="tabular text-sm text-ink-faint">
              {formatClockTime(version.at, t.locale)} · {formatBytes(version.content.size, t.locale)}
              {version.base > 0 &&
                version.base !== version.version - 1 &&
                ` · ${t('artifact.based_on', { version: version.base })}`}
            </p>
            <div className="-ml-2.5 flex flex-wrap">
              {version.version !== props.openVersion && (
                <Button onClick={() => props.onShow(version.version)}>{t('artifact.show')}</Button>
              )}
              {version.version > 1 && (
                <Button onClick={() => props.onCompare(version.version - 1, version.version)}>
                  {t('artifact.compare_before')}
                </Button>
              )}
              {version.turnId !== '' && (
                <Button onClick={() => props.onGoToTurn(version.turnId)}>{t('artifact.go_to_turn')}</Button>
              )}
              {version.version !== artifact.version && artifact.status !== 'deleted' && (
                <Button onClick={() => props.onRestore(version.version)}>{t('artifact.restore')}</Button>
              )}
            </div>
          </li>
        ))}
      </ol>
      {props.onNeedAll !== null && (
        <Button look="outline" onClick={props.onNeedAll}>
          {t('artifact.all_versions')}
        </Button>
      )}
    </>
  )
}

/** The author of a version. */
function VersionAuthor({ version }: { version: Version }) {
  const t = useT()
  const names = useNames()
  const agent = version.agentId === '' ? t('app.unknown') : names.nameAgent(version.agentId)
  return (
    <span className="min-w-0 truncate text-ink-soft">
      {t(`artifact.origin.${version.versionOrigin}`, { agent, version: version.restores })}
    </span>
  )
}
