import { type FormEvent, useState } from 'react'
import { stripTerminalCodes } from '@/system/format/ansi'
import type { ProcessRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { CodeBlock } from '@/ui/code-block'
import { Disclosure } from '@/ui/disclosure'
import { Badge, Dot, type Tone } from '@/ui/marks'
import { Elapsed } from '../shared/elapsed'
import { LoadMore } from '../shared/load-more'
import { useFullText, useT } from '../shared/surface'

const TONES: Readonly<Record<ProcessRow['state'], Tone>> = {
  running: 'accent',
  stopping: 'warn',
  exited: 'quiet',
  terminated: 'quiet',
  session_closed: 'quiet',
  limited: 'bad',
  lost: 'warn',
  unknown: 'warn',
}

export interface ProcessHandlers {
  readonly onWrite: (processId: string, text: string, end: boolean) => Promise<boolean>
  readonly onTerminate: (processId: string) => void
}

/** Background processes, each with its output, an input line and a stop button. */
export function ProcessList(props: {
  readonly processes: readonly ProcessRow[]
  readonly handlers: ProcessHandlers
}) {
  const t = useT()
  if (props.processes.length === 0) return null
  return (
    <section className="space-y-1">
      <h3 className="font-semibold">{t('process.title')}</h3>
      <ul aria-label={t('process.title')} className="space-y-2">
        {props.processes.toReversed().map((row) => (
          <li key={row.key}>
            <Process row={row} handlers={props.handlers} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Process({ row, handlers }: { row: ProcessRow; handlers: ProcessHandlers }) {
  const t = useT()
  const runs = row.state === 'running'
  const command = stripTerminalCodes(row.command.text || row.summary)
  return (
    <>
      <p className="flex items-center gap-2">
        <Dot tone={TONES[row.state]} active={runs} />
        <span className="min-w-0 flex-1 truncate font-mono text-sm" title={command}>
          {command}
        </span>
        {runs && row.startedAt > 0 && (
          <span className="text-sm text-ink-faint">
            <Elapsed since={row.startedAt} />
          </span>
        )}
        <Badge tone={TONES[row.state]}>{t(`process.state.${row.state}`)}</Badge>
      </p>
      {row.exitCode !== null && (
        <p className="pl-4 text-sm text-ink-faint">{t('tool.exit', { code: row.exitCode })}</p>
      )}
      {row.message !== '' && (
        <p className="wrap-any pl-4 text-sm text-ink-soft">{t.find(`code.${row.code}`) ?? row.message}</p>
      )}
      <div className="pl-3">
        <Disclosure title={t('tool.output')}>
          <Output row={row} />
        </Disclosure>
        {runs && <Input row={row} handlers={handlers} command={command} />}
      </div>
    </>
  )
}

function Output({ row }: { row: ProcessRow }) {
  const t = useT()
  const full = useFullText(row.output)
  if (full.text === '') return <p className="text-ink-faint">{t('tool.no_output')}</p>
  return (
    <>
      <CodeBlock
        follow={row.state === 'running'}
        text={stripTerminalCodes(full.text)}
        label={t('tool.output')}
      />
      <LoadMore full={full} />
    </>
  )
}

function Input(props: {
  readonly row: ProcessRow
  readonly handlers: ProcessHandlers
  readonly command: string
}) {
  const t = useT()
  const { row, handlers, command } = props
  const [text, setText] = useState('')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (await handlers.onWrite(row.processId, `${text}\n`, false)) setText('')
  }
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-wrap gap-1.5 pt-1">
      <input
        aria-label={t('process.input', { command })}
        placeholder={t('process.input_short')}
        value={text}
        maxLength={60_000}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        className="h-7 min-w-32 flex-1 rounded-md border border-line-strong bg-paper px-2 font-mono text-sm"
      />
      <Button type="submit" look="outline">
        {t('process.write')}
      </Button>
      <Button
        look="danger"
        onClick={() => handlers.onTerminate(row.processId)}
        aria-label={t('process.terminate_of', { command })}
      >
        {t('process.terminate')}
      </Button>
    </form>
  )
}
