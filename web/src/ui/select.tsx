import { Icon, type IconName } from './icon'

export interface Choice<V extends string> {
  readonly value: V
  readonly label: string
  readonly hint?: string
}

/** The browser's select, sized to its text. */
export function Select<V extends string>(props: {
  readonly label: string
  readonly value: V
  readonly choices: readonly Choice<V>[]
  readonly onChange: (value: V) => void
  readonly icon?: IconName
  readonly className?: string
}) {
  const chosen = props.choices.find((choice) => choice.value === props.value)
  return (
    <span
      className={`relative inline-flex h-7 items-center gap-1 rounded-md pl-2 text-ink-soft hover:bg-hover hover:text-ink ${props.className ?? ''}`}
    >
      {props.icon && <Icon name={props.icon} size={14} />}
      <select
        aria-label={props.label}
        title={chosen?.hint ?? props.label}
        value={props.value}
        onChange={(event) => {
          const next = props.choices.find((choice) => choice.value === event.target.value)
          if (next !== undefined) props.onChange(next.value)
        }}
        className="field-sizing-content h-7 max-w-48 appearance-none truncate rounded-md bg-transparent pr-5 font-medium"
      >
        {props.choices.map((choice) => (
          <option key={choice.value} value={choice.value} className="bg-surface text-ink">
            {choice.label}
          </option>
        ))}
      </select>
      <Icon name="chevronDown" size={10} className="pointer-events-none absolute right-1.5" />
    </span>
  )
}
