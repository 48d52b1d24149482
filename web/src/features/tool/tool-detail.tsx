import { stripTerminalCodes } from '@/system/format/ansi'
import { layOutArguments } from '@/system/format/arguments'
import type { Text, ToolPart } from '@/system/rows/model'
import { wasRejected } from '@/system/selectors/activity'
import { CodeBlock } from '@/ui/code-block'
import { LoadMore } from '../shared/load-more'
import { RowImage } from '../shared/row-image'
import { useFullText, useT } from '../shared/surface'
import { describeResult } from './call-state'
import { FileChanges } from './file-changes'

/** Input, changes and output of a call. Its permission checks are in the details. */
export function ToolDetail({ part }: { part: ToolPart }) {
  const t = useT()
  const message = describeResult(t, part)
  return (
    <div className="space-y-2 pt-1 pb-3 pl-[22px]">
      <Block title={t('tool.input')} text={part.arguments} json />
      {part.asked !== null && <Block title={t('tool.original_input')} text={part.asked} json />}
      {part.changes.length > 0 && <FileChanges call={part.key} changes={part.changes} />}
      {message && <p className={`wrap-any ${wasRejected(part) ? 'text-ink-soft' : 'text-bad'}`}>{message}</p>}
      <Block
        title={t('tool.output')}
        text={part.output}
        {...(part.images.length === 0 && { empty: t('tool.no_output') })}
      />
      {part.images.map((image, index) => (
        <RowImage
          key={image.hash}
          content={image}
          alt={t('tool.image', { number: index + 1, tool: part.tool })}
        />
      ))}
    </div>
  )
}

function Block(props: {
  readonly title: string
  readonly text: Text
  readonly json?: boolean
  readonly empty?: string
}) {
  const full = useFullText(props.text)
  if (full.text === '' && props.empty === undefined) return null
  return (
    <div>
      <p className="pb-0.5 text-sm font-medium text-ink-faint">{props.title}</p>
      {full.text === '' ? (
        <p className="text-ink-faint">{props.empty}</p>
      ) : (
        <CodeBlock
          text={stripTerminalCodes(props.json ? layOutArguments(full.text) : full.text)}
          label={props.title}
        />
      )}
      <LoadMore full={full} />
    </div>
  )
}
