import { useState } from 'react'
import { stripTerminalCodes } from '@/system/format/ansi'
import { formatBytes } from '@/system/format/numbers'
import { type ArtifactRow, readText, type Version } from '@/system/rows/model'
import { CodeBlock } from '@/ui/code-block'
import { Markdown } from '@/ui/markdown/markdown'
import { RadioGroup } from '@/ui/radio-group'
import { LoadMore } from '../shared/load-more'
import { RowImage } from '../shared/row-image'
import { useT, useWholeText } from '../shared/surface'
import { isMarkdown, isText } from './artifact-kinds'

const FORMATS = ['read', 'source'] as const

/** A version as text, Markdown or image. Other formats show only their size. */
export function VersionPreview({ artifact, version }: { artifact: ArtifactRow; version: Version }) {
  const t = useT()
  if (artifact.artifactKind === 'image') return <RowImage content={version.content} alt={artifact.title} />
  if (!isText(artifact)) {
    return (
      <p className="text-ink-soft">
        {t('artifact.binary', { size: formatBytes(version.content.size, t.locale) })}
      </p>
    )
  }
  return <TextPreview key={version.content.hash} artifact={artifact} version={version} />
}

function TextPreview({ artifact, version }: { artifact: ArtifactRow; version: Version }) {
  const t = useT()
  const markdown = isMarkdown(artifact)
  const [format, setFormat] = useState<(typeof FORMATS)[number]>('read')
  const full = useWholeText(readText({ text: '', ref: version.content }))
  if (version.content.size === 0) return <p className="text-ink-faint">{t('artifact.empty')}</p>
  const source = !markdown || format === 'source'
  return (
    <div className="space-y-2">
      {markdown && (
        <RadioGroup
          label={t('artifact.view')}
          value={format}
          onChange={setFormat}
          choices={FORMATS.map((value) => ({ value, label: t(`artifact.view.${value}`) }))}
        />
      )}
      {source && full.text !== '' && (
        <CodeBlock whole text={stripTerminalCodes(full.text)} label={artifact.title} />
      )}
      {!source && <Markdown text={full.text} streaming={false} />}
      <LoadMore full={full} />
    </div>
  )
}
