/** A form in a dialog. It shows a refusal and stays open until its host closes it. */
import type { ReactNode } from 'react'
import type { Refusal } from '@/system/stores/notice-store'
import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { RefusalAlert } from './refusal'
import { useT } from './surface'

/** Classes of text fields and selects. */
export const FIELD = 'w-full rounded-md border border-line-strong bg-paper px-2'

export function FormDialog(props: {
  readonly title: string
  /** The label of the submit button. */
  readonly action: string
  readonly disabled: boolean
  readonly refusal: Refusal | null
  readonly onSend: () => void
  readonly onDone: () => void
  readonly className?: string
  /** Shown beside the buttons. */
  readonly beside?: ReactNode
  readonly children: ReactNode
}) {
  const t = useT()
  return (
    <Dialog label={props.title} onClose={props.onDone}>
      <form
        className={`p-4 ${props.className ?? 'space-y-3'}`}
        onSubmit={(event) => {
          event.preventDefault()
          props.onSend()
        }}
      >
        <h2 className="text-lg font-semibold">{props.title}</h2>
        {props.children}
        <RefusalAlert refusal={props.refusal} />
        <div className="flex flex-wrap items-center justify-end gap-2">
          {props.beside}
          <Button look="outline" onClick={props.onDone}>
            {t('app.cancel')}
          </Button>
          <Button look="solid" type="submit" disabled={props.disabled}>
            {props.action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

export function Field(props: {
  readonly label: string
  readonly className?: string
  readonly children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the field is a child
    <label className={`block space-y-1 ${props.className ?? ''}`}>
      <span className="block text-sm text-ink-soft">{props.label}</span>
      {props.children}
    </label>
  )
}

/** A list of checkboxes. */
export function CheckboxList(props: {
  readonly legend: ReactNode
  readonly choices: readonly { readonly key: string; readonly label: string }[]
  readonly chosen: ReadonlySet<string>
  readonly onChosen: (chosen: ReadonlySet<string>) => void
  readonly describedBy?: string | undefined
  /** Limits the height before it scrolls. */
  readonly className: string
}) {
  const { choices, chosen, onChosen } = props
  const change = (key: string, isChecked: boolean) => {
    onChosen(new Set(isChecked ? [...chosen, key] : [...chosen].filter((other) => other !== key)))
  }
  return (
    <fieldset className="space-y-0.5" aria-describedby={props.describedBy}>
      {props.legend}
      <div className={`overflow-y-auto ${props.className}`}>
        {choices.map(({ key, label }) => (
          <label key={key} className="flex min-h-6 items-start gap-2">
            <input
              type="checkbox"
              className="mt-1"
              checked={chosen.has(key)}
              onChange={(event) => change(key, event.target.checked)}
            />
            <span className="wrap-any min-w-0">{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
