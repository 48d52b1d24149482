import { useState } from 'react'
import {
  type Field,
  type FieldValue,
  type FieldValues,
  initialValue,
  toValue,
  validateField,
} from '@/system/format/schema'
import type { Decision } from '@/system/generated/contracts'
import { Button } from '@/ui/button'
import { SchemaFields } from '../shared/schema-fields'
import { useT } from '../shared/surface'

/** The fields that a server asks for. What is typed is kept by the host as it is; what is sent is an object of the schema. */
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
  const values = typedIn(props.draft, fields)
  const answer = () => {
    setChecked(true)
    if (fields.some((field) => validateField(field, values[field.name] ?? '') !== null)) return
    const given = fields.map((field) => [field.name, toValue(field, values[field.name] ?? '')] as const)
    const object = Object.fromEntries(given.filter(([, value]) => value !== undefined))
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

/** What was typed so far, with every field; one that nobody touched is as the schema has it. */
function typedIn(draft: string, fields: readonly Field[]): FieldValues {
  let kept: Readonly<Record<string, FieldValue>> = {}
  try {
    const value: unknown = JSON.parse(draft)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) kept = value as FieldValues
  } catch {
    // Nothing was typed into this form yet.
  }
  return Object.fromEntries(fields.map((field) => [field.name, kept[field.name] ?? initialValue(field)]))
}
