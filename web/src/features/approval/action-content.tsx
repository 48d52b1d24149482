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
  if (action.preview === null) return hasInput ? <Input text={action.arguments} /> : null
  return (
    <>
      {!same && <Preview text={action.preview} />}
      {hasInput && (
        <Disclosure title={t('action.input')}>
          <Input text={action.arguments} />
        </Disclosure>
      )}
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

function Input({ text }: { text: Text }) {
  const t = useT()
  const full = useFullText(text)
  return (
    <div>
      <CodeBlock text={visibleText(laidOutArguments(full.text))} label={t('action.input')} />
      <LoadMore full={full} />
    </div>
  )
}
