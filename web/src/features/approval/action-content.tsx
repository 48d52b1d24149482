import { visibleText } from '@/system/format/ansi'
import { laidOutArguments } from '@/system/format/arguments'
import type { ActionRow, Text } from '@/system/rows/model'
import { CodeBlock } from '@/ui/code-block'
import { DiffView, isDiff } from '@/ui/diff-view'
import { Disclosure } from '@/ui/disclosure'
import { LoadMore } from '../shared/load-more'
import { useFullText, useT } from '../shared/surface'

/** What would be done, as the gate will check it: a preview where there is one, and the final input. */
export function ActionContent({ action }: { action: ActionRow }) {
  const t = useT()
  const hasInput = action.arguments.text !== ''
  const same = action.change?.differs === false
  const before = action.asked !== null && <Input text={action.asked} label={t('action.asked')} shown />
  if (action.preview === null) {
    return (
      <>
        {hasInput && <Input text={action.arguments} label={t('action.input')} />}
        {before}
      </>
    )
  }
  return (
    <>
      {!same && <Preview text={action.preview} />}
      {hasInput && (
        <Disclosure title={t('action.input')}>
          <Input text={action.arguments} label={t('action.input')} />
        </Disclosure>
      )}
      {before}
    </>
  )
}

function Preview({ text }: { text: Text }) {
  const t = useT()
  const full = useFullText(text)
  const label = t('action.preview')
  return (
    <div>
      {isDiff(full.text) ? (
        <DiffView diff={visibleText(full.text)} label={label} />
      ) : (
        <CodeBlock text={visibleText(full.text)} label={label} />
      )}
      <LoadMore full={full} />
    </div>
  )
}

/** Arguments; with `shown` their name stands over them, where there are others beside them. */
function Input(props: { readonly text: Text; readonly label: string; readonly shown?: boolean }) {
  const full = useFullText(props.text)
  return (
    <div>
      {props.shown && <p className="pb-0.5 text-sm text-ink-faint">{props.label}</p>}
      <CodeBlock text={visibleText(laidOutArguments(full.text))} label={props.label} />
      <LoadMore full={full} />
    </div>
  )
}
