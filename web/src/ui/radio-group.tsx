import { useId } from 'react'
import type { Choice } from './select'

/** Radio buttons drawn as one switch. None is checked if `value` is null. */
export function RadioGroup<V extends string>(props: {
  readonly label: string
  readonly value: V | null
  readonly choices: readonly Choice<V>[]
  readonly onChange: (value: V) => void
  readonly disabled?: boolean
}) {
  const name = useId()
  return (
    <fieldset
      disabled={props.disabled}
      className="inline-flex min-w-0 flex-wrap rounded-md border border-line-strong p-px disabled:opacity-50"
    >
      <legend className="sr-only">{props.label}</legend>
      {props.choices.map((choice) => (
        <label
          key={choice.value}
          title={choice.hint}
          className="relative flex h-6 items-center rounded px-2 font-medium text-ink-soft has-checked:bg-accent-soft has-checked:text-accent has-focus-visible:outline-2 has-focus-visible:outline-accent not-has-checked:hover:text-ink"
        >
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={props.value === choice.value}
            onChange={() => props.onChange(choice.value)}
            className="absolute inset-0 appearance-none outline-none"
          />
          {choice.label}
        </label>
      ))}
    </fieldset>
  )
}
