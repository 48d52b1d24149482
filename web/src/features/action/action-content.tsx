import type { ReactNode } from 'react'
import { layOutArguments } from '@/system/format/arguments'
import { hasEmptyFold, markInvisible } from '@/system/format/exact-text'
import { Fields } from '@/system/format/fields'
import type { ActionRow, Text } from '@/system/rows/model'
import { DiffView, isDiff } from '@/ui/diff/diff-view'
import { Disclosure } from '@/ui/disclosure'
import { LoadMore } from '../shared/load-more'
import { useT, useWholeText } from '../shared/surface'
import { ExactText, TextNotes } from './exact-text'

/**
 * The call that awaits approval: a preview if there is one, and the final input. `children` and the
 * agent's description come below, because text above could distract from what would run.
 */
export function ActionContent({ action, children }: { action: ActionRow; children?: ReactNode }) {
  const t = useT()
  const hasInput = action.arguments.text !== ''
  const same = action.change?.differs === false
  const before = action.asked !== null && (
    <Input text={action.asked} label={t('action.original_input')} labelled />
  )
  if (action.preview === null) {
    return (
      <>
        {hasInput && <Input text={action.arguments} label={t('action.input')} />}
        {children}
        {before}
      </>
    )
  }
  return (
    <>
      {!same && (
        <Preview
          text={action.preview}
          commands={countCommands(action)}
          path={action.change === null ? '' : markInvisible(action.change.path)}
        />
      )}
      {children}
      <AgentDescription text={action.arguments} />
      {hasInput && (
        <Disclosure title={t('action.input')}>
          <Input text={action.arguments} label={t('action.input')} />
        </Disclosure>
      )}
      {before}
    </>
  )
}

/** The number of commands; null if the shell text cannot be parsed. */
function countCommands(action: ActionRow): number | null {
  return action.tool === 'Bash' && action.commands === 0 ? null : action.commands
}

function Preview(props: {
  readonly text: Text
  readonly commands: number | null
  /** The file that the diff would change; empty if the preview is not a diff. */
  readonly path: string
}) {
  const { text, commands, path } = props
  const t = useT()
  const full = useWholeText(text)
  const label = t('action.preview')
  const diff = isDiff(full.text)
  return (
    <div>
      {path !== '' && <p className="wrap-any pb-1 font-mono text-sm">{path}</p>}
      <TextNotes text={full.text} commands={commands} />
      {diff && !hasEmptyFold(full.text) ? (
        <DiffView diff={markInvisible(full.text)} label={label} low />
      ) : (
        <ExactText text={full.text} label={label} isDiff={diff} />
      )}
      <LoadMore full={full} />
    </div>
  )
}

/** Arguments, with a label if `labelled`. */
function Input(props: { readonly text: Text; readonly label: string; readonly labelled?: boolean }) {
  const full = useWholeText(props.text)
  const text = layOutArguments(full.text)
  return (
    <div>
      {props.labelled && <p className="pb-0.5 text-sm text-ink-faint">{props.label}</p>}
      <ExactText text={text} label={props.label} />
      <LoadMore full={full} />
      <TextNotes text={text} commands={0} />
    </div>
  )
}

/** The agent's description of its command, marked as such. */
function AgentDescription({ text }: { readonly text: Text }) {
  const t = useT()
  const fields = Fields.parse(useWholeText(text).text)
  const description = fields.getText('command') === '' ? '' : fields.getText('description')
  if (description === '') return null
  return (
    <p className="wrap-any text-sm text-ink-soft">
      <span className="text-ink-faint">{t('action.described')}</span> {markInvisible(description)}
    </p>
  )
}
