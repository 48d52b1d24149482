import { useEffect, useRef } from 'react'
import type { ArtifactRow, Version } from '@/system/rows/model'
import { IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Badge } from '@/ui/marks'
import { Menu } from '@/ui/menu/menu'
import { useT } from '../shared/surface'
import { ArtifactState } from './artifact-card'
import type { ArtifactHandlers, ExportForm } from './artifact-handlers'
import { isMarkdown, KIND_ICONS } from './artifact-kinds'

/** Title, state and actions of the open artifact. */
export function ArtifactHead(props: {
  readonly artifact: ArtifactRow
  readonly handlers: ArtifactHandlers
  readonly version: Version | null
  readonly onDelete: () => void
}) {
  const t = useT()
  const { artifact, handlers, version: selected } = props
  const forms: readonly ExportForm[] = isMarkdown(artifact) ? ['file', 'html', 'diff'] : ['file', 'diff']
  const number = selected?.version ?? artifact.version
  const back = useRef<HTMLButtonElement>(null)
  // The entry that opened the artifact may be gone, and the focus with it.
  useEffect(() => {
    if (document.activeElement === document.body) back.current?.focus()
  }, [])
  return (
    <header className="flex shrink-0 items-start gap-2 py-2 pr-2 pl-2">
      <IconButton ref={back} icon="arrowLeft" label={t('artifact.back')} onClick={handlers.onClose} />
      <div className="min-w-0 flex-1 pt-1">
        <h2 className="flex items-center gap-2 font-semibold">
          <Icon name={KIND_ICONS[artifact.artifactKind]} size={14} className="text-ink-faint" />
          <span className="min-w-0 truncate" title={artifact.path || artifact.title}>
            {artifact.title}
          </span>
        </h2>
        <p className="flex flex-wrap items-center gap-x-2 text-sm text-ink-faint">
          <span className="tabular">{t('artifact.version', { version: number })}</span>
          {number !== artifact.version && <Badge>{t('artifact.newer', { version: artifact.version })}</Badge>}
          <span>{t(`artifact.kind.${artifact.artifactKind}`)}</span>
          {artifact.path !== '' && <span className="wrap-any font-mono">{artifact.path}</span>}
        </p>
      </div>
      <span className="pt-1.5">
        <ArtifactState row={artifact} />
      </span>
      {artifact.status !== 'deleted' && (
        <Menu
          trigger={
            <IconButton
              aria-haspopup="menu"
              icon="more"
              label={t('artifact.menu', { title: artifact.title })}
            />
          }
          entries={[
            ...forms.map((form) => ({
              id: form,
              label: t(`artifact.export.${form}`),
              onSelect: () => handlers.onExport(artifact, form, number),
            })),
            { id: 'delete', label: t('artifact.delete'), onSelect: props.onDelete },
          ]}
        />
      )}
    </header>
  )
}
