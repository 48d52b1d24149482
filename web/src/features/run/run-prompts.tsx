import { layOutArguments } from '@/system/format/arguments'
import { formatBytes } from '@/system/format/numbers'
import type { RunRow } from '@/system/rows/model'
import { CopyButton } from '@/ui/copy-button'
import { Disclosure } from '@/ui/disclosure'
import { LoadMore } from '../shared/load-more'
import { useFullText, useT } from '../shared/surface'

type Prompt = RunRow['prompts'][number]

/** The prompt layers of a run, each with the hash of its text. */
export function RunPrompts({ prompts }: { prompts: RunRow['prompts'] }) {
  const t = useT()
  if (prompts.length === 0) return null
  return (
    <div className="px-4 pb-1">
      <Disclosure title={t.count('prompt.layers', prompts.length)}>
        <ul aria-label={t('prompt.title')} className="space-y-1">
          {prompts.map((prompt) => (
            <li key={`${prompt.layer} ${prompt.hash}`}>
              <Layer prompt={prompt} />
            </li>
          ))}
        </ul>
      </Disclosure>
    </div>
  )
}

function Layer({ prompt }: { prompt: Prompt }) {
  const t = useT()
  return (
    <div className="flex items-start gap-1">
      <div className="min-w-0 flex-1">
        <Disclosure
          title={
            <span className="flex items-baseline gap-2">
              {t(`prompt.layer.${prompt.layer}`)}
              <span className="tabular font-normal text-ink-faint">{formatBytes(prompt.size, t.locale)}</span>
              <span className="font-mono text-xs font-normal text-ink-faint" title={prompt.hash}>
                {prompt.hash.slice(0, 12)}
              </span>
            </span>
          }
        >
          <PromptText prompt={prompt} />
        </Disclosure>
      </div>
      <span className="-my-0.5">
        <CopyButton text={prompt.hash} label={t('prompt.copy_hash')} done={t('app.copied')} />
      </span>
    </div>
  )
}

function PromptText({ prompt }: { prompt: Prompt }) {
  const { hash, size } = prompt
  const full = useFullText({ text: '', ref: { hash, size }, erased: false })
  return (
    <div className="max-h-80 overflow-y-auto">
      <p className="wrap-any whitespace-pre-wrap">{layOutArguments(full.text)}</p>
      <LoadMore full={full} />
    </div>
  )
}
