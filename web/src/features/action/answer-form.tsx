import { useState } from 'react'
import {
  type Field,
  type FieldValue,
  type FieldValues,
  getInitialValue,
  parseValue,
  validateField,
} from '@/system/format/schema'
import type { Decision } from '@/system/generated/contracts'
import { Button } from '@/ui/button'
import { SchemaFields } from '../shared/schema-fields'
import { useT } from '../shared/surface'

/**
 * A form for the fields that a server requests. The host stores the draft; the answer is an object
 * of the schema.
 */
export default function AnswerForm(props: {
  readonly fields: readonly Field[]
  readonly draft: string
  readonly onDraft: (text: string) => void
  readonly mayReject: boolean
  readonly onAnswer: (answer: { readonly decision: Decision; readonly text: string }) => void
}) {
  const t = useT()
  const { fields } = props
  const [checked, setChecked] = useState(false)
  const values = readDraft(props.draft, fields)
  const answer = () => {
    setChecked(true)
    if (fields.some((field) => validateField(field, values[field.name] ?? '') !== null)) return
    const entries = fields.map((field) => [field.name, parseValue(field, values[field.name] ?? '')] as const)
    const object = Object.fromEntries(entries.filter(([, value]) => value !== undefined))
    props.onAnswer({ decision: 'answer', text: JSON.stringify(object) })
  }
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        answer()
      }}
      className="flex min-h-0 flex-col gap-2.5"
    >
      <div className="min-h-0 overflow-y-auto pr-1">
        <SchemaFields
          fields={fields}
          values={values}
          checked={checked}
          onChange={(name: string, typed: FieldValue) =>
            props.onDraft(JSON.stringify({ ...values, [name]: typed }))
          }
        />
      </div>
      <div className="flex flex-wrap items-center justify-end gap-2">
        {props.mayReject && (
          <Button look="danger" onClick={() => props.onAnswer({ decision: 'reject', text: '' })}>
            {t('action.decline')}
          </Button>
        )}
        <Button look="solid" type="submit">
          {t('action.answer')}
        </Button>
      </div>
    </form>
  )
}

/** Values of all fields: typed ones from the draft, others from the schema. */
function readDraft(draft: string, fields: readonly Field[]): FieldValues {
  let drafted: Readonly<Record<string, FieldValue>> = {}
  try {
    const value: unknown = JSON.parse(draft)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) drafted = value as FieldValues
  } catch {
    // There is no draft yet.
  }
  return Object.fromEntries(
    fields.map((field) => [field.name, drafted[field.name] ?? getInitialValue(field)]),
  )
}
