import { useState } from 'react'
import type { AgentRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { ConfirmDialog } from '../shared/confirm-dialog'
import { useT } from '../shared/surface'

interface AskProps {
  readonly agent: AgentRow
  readonly onDo: () => void
  readonly onDone: () => void
}

export function StopDialog({ agent, onDo, onDone }: AskProps) {
  const t = useT()
  const title = t('team.stop_title', { agent: agent.name })
  return (
    <ConfirmDialog
      title={title}
      body={t('team.stop_body')}
      action={t('team.stop')}
      onDo={onDo}
      onDone={onDone}
    />
  )
}

export function CloseDialog({ agent, onDo, onDone }: AskProps) {
  const t = useT()
  const title = t('team.close_title', { agent: agent.name })
  return (
    <ConfirmDialog
      title={title}
      body={t('team.close_body')}
      action={t('team.close')}
      onDo={onDo}
      onDone={onDone}
    />
  )
}

/** Confirms ending a background agent: it is cancelled and does not wake again. */
export function EndDialog({ agent, onDo, onDone }: AskProps) {
  const t = useT()
  const title = t('team.end_title', { agent: agent.name })
  return (
    <ConfirmDialog
      title={title}
      body={t('team.end_body')}
      action={t('team.end')}
      onDo={onDo}
      onDone={onDone}
    />
  )
}

/** Sends a message to an agent. The text stays if it is refused. */
export function InputDialog(props: {
  readonly agent: AgentRow
  readonly onSend: (text: string) => Promise<boolean>
  readonly onDone: () => void
}) {
  const t = useT()
  const title = t('team.input_title', { agent: props.agent.name })
  return (
    <Dialog label={title} onClose={props.onDone}>
      <div className="space-y-3 p-4">
        <h2 className="wrap-any text-lg font-semibold">{title}</h2>
        <InputForm label={title} onSend={props.onSend} onSent={props.onDone} onCancel={props.onDone} />
      </div>
    </Dialog>
  )
}

export function InputForm(props: {
  readonly label: string
  readonly onSend: (text: string) => Promise<boolean>
  readonly onSent?: () => void
  readonly onCancel?: () => void
}) {
  const t = useT()
  const [text, setText] = useState('')
  const [sending, setSending] = useState(false)
  const send = async () => {
    if (text.trim() === '' || sending) return
    setSending(true)
    const accepted = await props.onSend(text)
    setSending(false)
    if (!accepted) return
    setText('')
    props.onSent?.()
  }
  return (
    <div className={props.onCancel ? 'space-y-2' : 'flex items-end gap-2'}>
      <textarea
        aria-label={props.label}
        placeholder={props.label}
        value={text}
        rows={2}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          void send()
        }}
        className="field-sizing-content max-h-48 min-h-14 w-full flex-1 resize-none rounded-lg border border-line-strong bg-surface px-3 py-2"
      />
      <div className="flex justify-end gap-2">
        {props.onCancel && (
          <Button look="outline" onClick={props.onCancel}>
            {t('app.cancel')}
          </Button>
        )}
        <Button
          look="solid"
          icon="arrowUp"
          disabled={text.trim() === '' || sending}
          onClick={() => void send()}
        >
          {t('composer.send')}
        </Button>
      </div>
    </div>
  )
}
