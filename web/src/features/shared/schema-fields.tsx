import { useId } from 'react'
import { markInvisible } from '@/system/format/exact-text'
import {
  type Field,
  type FieldProblem,
  type FieldValue,
  type FieldValues,
  validateField,
} from '@/system/format/schema'
import { useT } from './surface'

const INPUTS: Readonly<Record<string, string>> = {
  email: 'email',
  uri: 'url',
  date: 'date',
  'date-time': 'datetime-local',
}

/**
 * A field for each property of a schema. `describeServerProblem` returns the problem of a field
 * that the server reported.
 */
export function SchemaFields(props: {
  readonly fields: readonly Field[]
  readonly values: FieldValues
  readonly onChange: (name: string, typed: FieldValue) => void
  /** Whether problems are shown yet. */
  readonly checked: boolean
  readonly getLabel?: (field: Field) => { readonly label: string; readonly hint: string }
  readonly describeServerProblem?: (name: string) => string
}) {
  return (
    <div className="space-y-3">
      {props.fields.map((field) => {
        const typed = props.values[field.name] ?? ''
        return (
          <SchemaField
            key={field.name}
            field={field}
            typed={typed}
            problem={props.checked ? validateField(field, typed) : null}
            describeServerProblem={props.describeServerProblem?.(field.name) ?? ''}
            {...(props.getLabel?.(field) ?? {
              label: markInvisible(field.title),
              hint: markInvisible(field.description),
            })}
            onChange={(next) => props.onChange(field.name, next)}
          />
        )
      })}
    </div>
  )
}

interface FieldProps {
  readonly field: Field
  readonly typed: FieldValue
  readonly problem: FieldProblem | null
  readonly describeServerProblem: string
  readonly label: string
  readonly hint: string
  readonly onChange: (typed: FieldValue) => void
}

function SchemaField(props: FieldProps) {
  const t = useT()
  const { field, problem, describeServerProblem, label, hint } = props
  const id = useId()
  const problemText =
    describeServerProblem ||
    (problem === null
      ? ''
      : t(`field.${problem}`, { least: field.minimum ?? 0, most: field.maximum ?? field.maxLength ?? 0 }))
  const described = [hint === '' ? '' : `${id}-hint`, problemText === '' ? '' : `${id}-said`]
    .filter(Boolean)
    .join(' ')
  const common = {
    id,
    'aria-describedby': described || undefined,
    'aria-invalid': problemText !== '',
    'aria-required': field.required,
  }
  const inline = field.kind === 'boolean'
  return (
    <div className={inline ? 'grid grid-cols-[auto_1fr] items-start gap-x-2' : ''}>
      {inline && <Control {...props} common={common} />}
      <label htmlFor={id} className="block font-medium">
        {label}
        {field.required && <span aria-hidden="true"> *</span>}
      </label>
      {hint !== '' && (
        <p id={`${id}-hint`} className="wrap-any col-start-2 text-sm text-ink-faint">
          {hint}
        </p>
      )}
      {!inline && <Control {...props} common={common} />}
      {problemText !== '' && (
        <p id={`${id}-said`} role="alert" className="wrap-any col-start-2 text-sm text-bad">
          {problemText}
        </p>
      )}
    </div>
  )
}

const LOOK = 'mt-0.5 w-full rounded-md border border-line-strong bg-paper px-2'

function Control({ field, typed, onChange, common }: FieldProps & { readonly common: object }) {
  const t = useT()
  switch (field.kind) {
    case 'boolean':
      return (
        <input
          {...common}
          type="checkbox"
          checked={typed === true}
          onChange={(event) => onChange(event.target.checked)}
          className="mt-1"
        />
      )
    case 'choice':
      return (
        <select
          {...common}
          value={String(typed)}
          onChange={(event) => onChange(event.target.value)}
          className={`${LOOK} h-7`}
        >
          {(!field.required || typed === '') && (
            <option value="">{t(field.required ? 'field.choose' : 'field.none')}</option>
          )}
          {field.options.map(({ value, label }) => (
            <option key={value} value={value}>
              {markInvisible(label)}
            </option>
          ))}
        </select>
      )
    case 'choices': {
      const chosen = Array.isArray(typed) ? (typed as readonly string[]) : []
      return (
        // biome-ignore lint/a11y/useSemanticElements: the label above cannot name a fieldset
        <div {...common} role="group" className="flex flex-wrap gap-x-4 gap-y-1 pt-0.5">
          {field.options.map(({ value, label }) => (
            <label key={value} className="flex items-center gap-1.5">
              <input
                type="checkbox"
                checked={chosen.includes(value)}
                onChange={(event) =>
                  onChange(
                    event.target.checked ? [...chosen, value] : chosen.filter((other) => other !== value),
                  )
                }
              />
              {markInvisible(label)}
            </label>
          ))}
        </div>
      )
    }
    case 'lines':
      return (
        <textarea
          {...common}
          rows={3}
          value={String(typed)}
          onChange={(event) => onChange(event.target.value)}
          className={`${LOOK} field-sizing-content py-1 font-mono text-sm`}
        />
      )
    case 'number':
    case 'integer':
      return (
        <input
          {...common}
          inputMode={field.kind === 'integer' ? 'numeric' : 'decimal'}
          value={String(typed)}
          onChange={(event) => onChange(event.target.value)}
          className={`${LOOK} tabular h-7 max-w-48`}
        />
      )
    case 'text':
      return (
        <input
          {...common}
          type={INPUTS[field.format] ?? 'text'}
          value={String(typed)}
          maxLength={field.maxLength ?? 20_000}
          onChange={(event) => onChange(event.target.value)}
          className={`${LOOK} h-7`}
        />
      )
  }
}
