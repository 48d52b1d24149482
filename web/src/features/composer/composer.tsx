import { type FormEvent, type KeyboardEvent, type Ref, useState } from 'react'
import { MODES, type Mode, PERMISSION_MODES, type PermissionMode } from '@/system/generated/contracts'
import type { How } from '@/system/workbench/outbox'
import { Button } from '@/ui/button'
import { RadioGroup } from '@/ui/radio-group'
import { Select } from '@/ui/select'
import { useT } from '../shared/surface'

/** What input to a running turn may become. Nothing is chosen until the person did. */
export type BusyHow = Exclude<How, 'start'>
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
  readonly onSend: (text: string, how: How) => void
  readonly inputRef: Ref<HTMLTextAreaElement>
}

export function Composer(props: ComposerProps) {
  const t = useT()
  const { draft, settings, busy } = props
  const [asked, setAsked] = useState(false)
  const how: How | null = busy ? settings.busyHow : 'start'
  const empty = draft.trim() === ''
  const send = () => {
    if (empty || props.disabledBecause !== null) return
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
  const onKeyDown = (event: KeyboardEvent) => {
    // While an input method composes a word, Enter ends the word.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form
      onSubmit={onSubmit}
      className="rounded-lg border border-line-strong bg-surface shadow-sm focus-within:border-accent"
    >
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
        onChange={(event) => props.onDraft(event.target.value)}
        onKeyDown={onKeyDown}
        className="field-sizing-content block max-h-[38vh] min-h-11 w-full resize-none bg-transparent px-3.5 pt-2.5 pb-1 text-lg outline-none"
      />
      <p id="composer-keys" className="sr-only">
        {t('composer.keys')}
      </p>
      <div className="flex flex-wrap items-center gap-1 px-1.5 pb-1.5">
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
        <span className="flex-1" />
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
        <Button
          type="submit"
          look={how === 'interrupt' ? 'danger' : 'solid'}
          icon={how === 'steer' ? 'steer' : how === 'queue' ? 'queue' : 'arrowUp'}
          disabled={empty || how === null || props.disabledBecause !== null}
        >
          {how === null || how === 'start' ? t('composer.send') : t(SEND[how])}
        </Button>
      </div>
      {busy && how === null && !empty && (
        <p
          role={asked ? 'alert' : undefined}
          className={`px-3.5 pb-2 text-sm ${asked ? 'font-medium text-warn' : 'text-ink-faint'}`}
        >
          {t('composer.how')}
        </p>
      )}
      {busy && how !== null && how !== 'start' && (
        <p className="px-3.5 pb-2 text-sm text-ink-faint">{t(`composer.how.${how}_hint`)}</p>
      )}
    </form>
  )
}
