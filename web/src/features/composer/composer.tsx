import {
  type ClipboardEvent,
  type DragEvent,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useState,
} from 'react'
import { MODES, type Mode, PERMISSION_MODES, type PermissionMode } from '@/system/generated/contracts'
import type { SendMode } from '@/system/stores/outbox'
import { Button } from '@/ui/button'
import { RadioGroup } from '@/ui/radio-group'
import { Select } from '@/ui/select'
import { useT } from '../shared/surface'
import { AttachedList, type AttachmentProps, FilePicker, findModelWithoutImages } from './attachments'
import { type FindMentions, MentionList, useMentions } from './mentions'

/** What to do with input to a running turn. The person must choose. */
export type BusySendMode = Exclude<SendMode, 'start'>
const BUSY: readonly BusySendMode[] = ['queue', 'steer', 'interrupt']
const SEND = {
  queue: 'composer.send_queue',
  steer: 'composer.send_steer',
  interrupt: 'composer.send_interrupt',
} as const

export interface ComposerSettings {
  readonly mode: Mode
  readonly permissionMode: PermissionMode
  readonly busySendMode: BusySendMode | null
}

export interface ComposerProps {
  readonly draft: string
  readonly onDraft: (text: string) => void
  readonly settings: ComposerSettings
  readonly onSettings: (change: Partial<ComposerSettings>) => void
  /** Whether a turn of the thread is running. */
  readonly busy: boolean
  readonly placeholder: string
  readonly disabledBecause: string | null
  readonly onSend: (text: string, sendMode: SendMode) => void
  readonly inputRef: Ref<HTMLTextAreaElement>
  /** Absent if files cannot be attached. */
  readonly attaching?: AttachmentProps
  /** Absent if mentions are not supported. */
  readonly onMention?: FindMentions
  /** Shown beside the settings, such as the context meter. */
  readonly meter?: ReactNode
  /** Shown instead of the send button. */
  readonly instead?: ReactNode
}

export function Composer(props: ComposerProps) {
  const t = useT()
  const { draft, settings, busy } = props
  const [modeRequested, setModeRequested] = useState(false)
  const sendMode: SendMode | null = busy ? settings.busySendMode : 'start'
  const mentions = useMentions(props.onMention, props.onDraft)
  const files = useFiles(props.disabledBecause === null ? props.attaching : undefined)
  const empty = draft.trim() === ''
  const blocker = sendBlocker(props.attaching)
  const send = () => {
    if (empty || blocker !== null || props.disabledBecause !== null) return
    if (sendMode === null) setModeRequested(true)
    else {
      setModeRequested(false)
      props.onSend(draft, sendMode)
    }
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    send()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (mentions.onKey(event)) return
    // While an input method composes a word, Enter completes the word.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form
      onSubmit={onSubmit}
      onDragOver={files.onDragOver}
      onDragLeave={files.onDragLeave}
      onDrop={files.onDrop}
      className={`relative rounded-lg border bg-surface shadow-sm focus-within:border-accent ${files.over ? 'border-accent bg-accent-soft' : 'border-line-strong'}`}
    >
      <MentionList
        id={mentions.list}
        suggestions={mentions.suggestions}
        onTake={(mention) => {
          const field = document.activeElement
          if (field instanceof HTMLTextAreaElement) mentions.insert(field, mention)
        }}
      />
      {props.attaching && <AttachedList attaching={props.attaching} sendMode={sendMode} />}
      {props.attaching && <ImageWarning attaching={props.attaching} sendMode={sendMode} />}
      <textarea
        ref={props.inputRef}
        // biome-ignore lint/a11y/noAutofocus: the message field is the main control of the page
        autoFocus
        aria-label={t('composer.label')}
        aria-describedby="composer-keys"
        placeholder={props.disabledBecause ?? props.placeholder}
        disabled={props.disabledBecause !== null}
        value={draft}
        rows={1}
        maxLength={1_000_000}
        aria-autocomplete={props.onMention ? 'list' : undefined}
        aria-controls={mentions.suggestions === null ? undefined : mentions.list}
        aria-activedescendant={mentions.active}
        onChange={(event) => {
          props.onDraft(event.target.value)
          mentions.update(event.target)
        }}
        onBlur={mentions.close}
        onPaste={files.onPaste}
        onKeyDown={onKeyDown}
        className="field-sizing-content block max-h-[38vh] min-h-11 w-full resize-none bg-transparent px-3.5 pt-2.5 pb-1 text-lg outline-none"
      />
      <p id="composer-keys" className="sr-only">
        {t('composer.keys')}
      </p>
      <div className="flex flex-wrap items-center gap-1 px-1.5 pb-1.5">
        {props.attaching && props.disabledBecause === null && <FilePicker attaching={props.attaching} />}
        {props.disabledBecause === null && (
          <>
            <Select
              label={t('composer.mode')}
              icon="play"
              value={settings.mode}
              onChange={(mode) => props.onSettings({ mode })}
              choices={MODES.map((value) => ({
                value,
                label: t(`composer.mode.${value}`),
                hint: t(`composer.mode.${value}_hint`),
              }))}
            />
            <Select
              label={t('composer.permission')}
              icon="shield"
              value={settings.permissionMode}
              onChange={(permissionMode) => props.onSettings({ permissionMode })}
              className={settings.permissionMode === 'full' ? 'text-warn' : ''}
              choices={PERMISSION_MODES.map((value) => ({
                value,
                label: t(`composer.permission.${value}`),
                hint: t(`composer.permission.${value}_hint`),
              }))}
            />
          </>
        )}
        <span className="flex-1" />
        {props.meter}
        {busy && (
          <span className="max-sm:order-first max-sm:w-full">
            <RadioGroup
              label={t('composer.delivery')}
              value={settings.busySendMode}
              onChange={(busySendMode) => props.onSettings({ busySendMode })}
              choices={BUSY.map((value) => ({
                value,
                label: t(`composer.delivery.${value}`),
                hint: t(`composer.delivery.${value}_hint`),
              }))}
            />
          </span>
        )}
        {props.instead || (
          <Button
            type="submit"
            look={sendMode === 'interrupt' ? 'danger' : 'solid'}
            icon={sendMode === 'steer' ? 'steer' : sendMode === 'queue' ? 'queue' : 'arrowUp'}
            disabled={empty || sendMode === null || blocker !== null || props.disabledBecause !== null}
          >
            {sendMode === null || sendMode === 'start' ? t('composer.send') : t(SEND[sendMode])}
          </Button>
        )}
      </div>
      <SendNote
        blocker={blocker}
        busy={busy}
        sendMode={sendMode}
        empty={empty}
        modeRequested={modeRequested}
      />
    </form>
  )
}

/** Warns before sending that the model accepts no images: the server would refuse them. */
function ImageWarning({
  attaching,
  sendMode,
}: {
  readonly attaching: AttachmentProps
  readonly sendMode: SendMode | null
}) {
  const t = useT()
  const model = findModelWithoutImages(attaching, sendMode)
  return (
    <p role="status" className="wrap-any px-3.5 pt-1.5 text-sm text-warn empty:hidden">
      {model !== null && t('composer.images_unsupported', { model })}
    </p>
  )
}

/** A note below the field: what is missing, or what sending will do. */
function SendNote(props: {
  readonly blocker: ReturnType<typeof sendBlocker>
  readonly busy: boolean
  readonly sendMode: SendMode | null
  readonly empty: boolean
  readonly modeRequested: boolean
}) {
  const t = useT()
  const { blocker, sendMode, modeRequested } = props
  if (blocker !== null) return <p className="px-3.5 pb-2 text-sm text-ink-faint">{t(blocker)}</p>
  if (!props.busy || sendMode === 'start') return null
  if (sendMode !== null) {
    return <p className="px-3.5 pb-2 text-sm text-ink-faint">{t(`composer.delivery.${sendMode}_hint`)}</p>
  }
  if (props.empty) return null
  return (
    <p
      role={modeRequested ? 'alert' : undefined}
      className={`px-3.5 pb-2 text-sm ${modeRequested ? 'font-medium text-warn' : 'text-ink-faint'}`}
    >
      {t('composer.delivery')}
    </p>
  )
}

/** The attachment state that blocks sending; null if none does. */
function sendBlocker(attaching: AttachmentProps | undefined) {
  const states = attaching?.list.map((file) => file.state) ?? []
  if (states.includes('failed')) return 'composer.upload_failed'
  return states.includes('sending') ? 'composer.uploading' : null
}

/** Handlers for pasted and dropped files. Text that comes with them is inserted as text. */
function useFiles(attaching: AttachmentProps | undefined) {
  const [isDropTarget, setDropTarget] = useState(false)
  const takeText = (event: ClipboardEvent | DragEvent, data: DataTransfer | null) => {
    const files = [...(data?.files ?? [])]
    setDropTarget(false)
    if (attaching === undefined || files.length === 0) return
    event.preventDefault()
    attaching.onFiles(files)
  }
  return {
    over: isDropTarget,
    onPaste: (event: ClipboardEvent) => takeText(event, event.clipboardData),
    onDrop: (event: DragEvent) => takeText(event, event.dataTransfer),
    onDragOver: (event: DragEvent) => {
      if (attaching === undefined || !event.dataTransfer.types.includes('Files')) return
      event.preventDefault()
      setDropTarget(true)
    },
    onDragLeave: () => setDropTarget(false),
  }
}
