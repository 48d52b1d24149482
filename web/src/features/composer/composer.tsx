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
import { AttachedList, type Attaching, imagesLeftOut, PickFiles } from './attachments'
import { type FindMentions, MentionList, useMentions } from './mentions'

/** What input to a running turn may become. Nothing is chosen until the person did. */
export type BusyHow = Exclude<SendMode, 'start'>
const BUSY: readonly BusyHow[] = ['queue', 'steer', 'interrupt']
const SEND = {
  queue: 'composer.send_queue',
  steer: 'composer.send_steer',
  interrupt: 'composer.send_interrupt',
} as const

export interface Settings {
  readonly mode: Mode
  readonly permissionMode: PermissionMode
  readonly busyHow: BusyHow | null
}

export interface ComposerProps {
  readonly draft: string
  readonly onDraft: (text: string) => void
  readonly settings: Settings
  readonly onSettings: (change: Partial<Settings>) => void
  /** Whether a turn runs in the thread. */
  readonly busy: boolean
  readonly placeholder: string
  readonly disabledBecause: string | null
  readonly onSend: (text: string, how: SendMode) => void
  readonly inputRef: Ref<HTMLTextAreaElement>
  /** Left out where nothing can be attached. */
  readonly attaching?: Attaching
  /** Left out where nothing can be named with an @. */
  readonly onMention?: FindMentions
  /** What stands beside the settings, such as how much of the model's window is in use. */
  readonly meter?: ReactNode
  /** What there is to do in place of sending. */
  readonly instead?: ReactNode
}

export function Composer(props: ComposerProps) {
  const t = useT()
  const { draft, settings, busy } = props
  const [asked, setAsked] = useState(false)
  const how: SendMode | null = busy ? settings.busyHow : 'start'
  const mentions = useMentions(props.onMention, props.onDraft)
  const files = useFiles(props.disabledBecause === null ? props.attaching : undefined)
  const empty = draft.trim() === ''
  const held = heldBy(props.attaching)
  const send = () => {
    if (empty || held !== null || props.disabledBecause !== null) return
    if (how === null) setAsked(true)
    else {
      setAsked(false)
      props.onSend(draft, how)
    }
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    send()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (mentions.onKey(event)) return
    // While an input method composes a word, Enter ends the word.
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
        asked={mentions.asked}
        onTake={(mention) => {
          const field = document.activeElement
          if (field instanceof HTMLTextAreaElement) mentions.take(field, mention)
        }}
      />
      {props.attaching && <AttachedList attaching={props.attaching} how={how} />}
      {props.attaching && <LeftOut attaching={props.attaching} how={how} />}
      <textarea
        ref={props.inputRef}
        // biome-ignore lint/a11y/noAutofocus: the message field is what the page is for
        autoFocus
        aria-label={t('composer.label')}
        aria-describedby="composer-keys"
        placeholder={props.disabledBecause ?? props.placeholder}
        disabled={props.disabledBecause !== null}
        value={draft}
        rows={1}
        maxLength={1_000_000}
        aria-autocomplete={props.onMention ? 'list' : undefined}
        aria-controls={mentions.asked === null ? undefined : mentions.list}
        aria-activedescendant={mentions.active}
        onChange={(event) => {
          props.onDraft(event.target.value)
          mentions.look(event.target)
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
        {props.attaching && props.disabledBecause === null && <PickFiles attaching={props.attaching} />}
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
              label={t('composer.how')}
              value={settings.busyHow}
              onChange={(busyHow) => props.onSettings({ busyHow })}
              choices={BUSY.map((value) => ({
                value,
                label: t(`composer.how.${value}`),
                hint: t(`composer.how.${value}_hint`),
              }))}
            />
          </span>
        )}
        {props.instead || (
          <Button
            type="submit"
            look={how === 'interrupt' ? 'danger' : 'solid'}
            icon={how === 'steer' ? 'steer' : how === 'queue' ? 'queue' : 'arrowUp'}
            disabled={empty || how === null || held !== null || props.disabledBecause !== null}
          >
            {how === null || how === 'start' ? t('composer.send') : t(SEND[how])}
          </Button>
        )}
      </div>
      <Note held={held} busy={busy} how={how} empty={empty} asked={asked} />
    </form>
  )
}

/** That the model takes no images is said before it is sent: the server would refuse it. */
function LeftOut({ attaching, how }: { readonly attaching: Attaching; readonly how: SendMode | null }) {
  const t = useT()
  const model = imagesLeftOut(attaching, how)
  return (
    <p role="status" className="wrap-any px-3.5 pt-1.5 text-sm text-warn empty:hidden">
      {model !== null && t('composer.images_unsupported', { model })}
    </p>
  )
}

/** What is to be done before it can be sent, or what sending it means. */
function Note(props: {
  readonly held: ReturnType<typeof heldBy>
  readonly busy: boolean
  readonly how: SendMode | null
  readonly empty: boolean
  readonly asked: boolean
}) {
  const t = useT()
  const { held, how, asked } = props
  if (held !== null) return <p className="px-3.5 pb-2 text-sm text-ink-faint">{t(held)}</p>
  if (!props.busy || how === 'start') return null
  if (how !== null) {
    return <p className="px-3.5 pb-2 text-sm text-ink-faint">{t(`composer.how.${how}_hint`)}</p>
  }
  if (props.empty) return null
  return (
    <p
      role={asked ? 'alert' : undefined}
      className={`px-3.5 pb-2 text-sm ${asked ? 'font-medium text-warn' : 'text-ink-faint'}`}
    >
      {t('composer.how')}
    </p>
  )
}

/** Why what is typed cannot be sent yet; null where it can. */
function heldBy(attaching: Attaching | undefined) {
  const states = attaching?.list.map((file) => file.state) ?? []
  if (states.includes('failed')) return 'composer.held_failed'
  return states.includes('sending') ? 'composer.held_sending' : null
}

/** Files that are pasted or dropped. Text that comes with them stays text. */
function useFiles(attaching: Attaching | undefined) {
  const [over, setOver] = useState(false)
  const take = (event: ClipboardEvent | DragEvent, data: DataTransfer | null) => {
    const files = [...(data?.files ?? [])]
    setOver(false)
    if (attaching === undefined || files.length === 0) return
    event.preventDefault()
    attaching.onFiles(files)
  }
  return {
    over,
    onPaste: (event: ClipboardEvent) => take(event, event.clipboardData),
    onDrop: (event: DragEvent) => take(event, event.dataTransfer),
    onDragOver: (event: DragEvent) => {
      if (attaching === undefined || !event.dataTransfer.types.includes('Files')) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
  }
}
