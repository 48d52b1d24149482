import { useState } from 'react'
import {
  buildForm,
  type Field,
  type FieldValue,
  type FieldValues,
  getInitialValue,
  parseValue,
  validateField,
} from '@/system/format/schema'
import type { Translate } from '@/system/i18n/translate'
import type { Refusal } from '@/system/stores/notice-store'
import type { SettingsView } from '@/system/stores/settings-store'
import { Button } from '@/ui/button'
import { describeSettingsProblem } from '../shared/code-texts'
import { SchemaFields } from '../shared/schema-fields'
import { useT } from '../shared/surface'
import type { SettingsHandlers } from './settings-section'
import { type Entry, Section, SettingsRefusal } from './settings-section'

/**
 * Plain settings from the file's schema: those of a table, or `names` at the top level. Saving writes
 * only the changed ones.
 */
export function ValuesSection(props: {
  readonly title: string
  readonly hint: string
  readonly view: SettingsView
  readonly handlers: SettingsHandlers
  readonly table?: string
  readonly names?: readonly string[]
}) {
  const t = useT()
  const { view, handlers, table, names } = props
  const { read } = view
  const [typed, setTyped] = useState<FieldValues>({})
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const [saved, setSaved] = useState(false)
  const [busy, setBusy] = useState(false)
  if (read === null) return <p className="text-ink-faint">{t('tool.loading')}</p>
  const fields = buildForm(read.jsonSchema, table).fields.filter(
    (field) => names === undefined || names.includes(field.name),
  )
  const storedValues = readTable(read.holding, table)
  const values = Object.fromEntries(
    fields.map((field) => [
      field.name,
      typed[field.name] ?? getInitialValue(field, storedValues[field.name] ?? field.initial),
    ]),
  )
  const changed = fields.filter((field) => typed[field.name] !== undefined)
  const isInvalid = changed.some((field) => validateField(field, values[field.name] ?? '') !== null)
  const write = async () => {
    setBusy(true)
    const refusal = await handlers.onWrite(
      buildChanges(changed, values, table, readTable(read.values, table)),
    )
    setBusy(false)
    setRefusal(refusal)
    setSaved(refusal === null)
    if (refusal === null) setTyped({})
  }
  const group = table ?? 'own'
  const describeServerProblem = (name: string) => describeFieldProblem(t, refusal, table, name)
  return (
    <Section title={props.title} hint={props.hint}>
      <SchemaFields
        fields={fields}
        values={values}
        checked
        onChange={(name: string, next: FieldValue) => {
          setSaved(false)
          setTyped({ ...typed, [name]: next })
        }}
        getLabel={(field) => ({
          label: t.find(`settings.${group}.${field.name}`) ?? field.name,
          hint: t.find(`settings.${group}.${field.name}_hint`) ?? '',
        })}
        describeServerProblem={describeServerProblem}
      />
      {refusal !== null && !fields.some((field) => describeServerProblem(field.name) !== '') && (
        <SettingsRefusal refusal={refusal} onReload={handlers.onReload} />
      )}
      <div className="flex items-center gap-2">
        <Button
          look="solid"
          disabled={busy || isInvalid || changed.length === 0}
          onClick={() => void write()}
        >
          {t('app.save')}
        </Button>
        {changed.length > 0 && <Button onClick={() => setTyped({})}>{t('settings.undo')}</Button>}
        {saved && changed.length === 0 && (
          <span role="status" className="text-good">
            {t('settings.saved')}
          </span>
        )}
      </div>
    </Section>
  )
}

function readTable(holding: Entry, table: string | undefined): Entry {
  if (table === undefined) return holding
  const inside = holding[table]
  return typeof inside === 'object' && inside !== null ? (inside as Entry) : {}
}

/** The keys to write: changed top-level keys, or the table with its changes. */
function buildChanges(
  changed: readonly Field[],
  values: FieldValues,
  table: string | undefined,
  inFile: Entry,
): Entry {
  const written = Object.fromEntries(
    changed.map((field) => [field.name, parseValue(field, values[field.name] ?? '') ?? null]),
  )
  if (table === undefined) return written
  const whole = Object.entries({ ...inFile, ...written }).filter(([, value]) => value !== null)
  return { [table]: Object.fromEntries(whole) }
}

/** The refusal of this field; empty if the refusal is about another field. */
function describeFieldProblem(
  t: Translate,
  refusal: Refusal | null,
  table: string | undefined,
  name: string,
): string {
  if (refusal === null || refusal.field === '') return ''
  const last = refusal.field.split('.').at(-1) ?? ''
  const inside = table === undefined || refusal.field.includes(table)
  if (!inside || last !== name) return ''
  return describeSettingsProblem(t, refusal.reason, refusal.params) ?? refusal.message
}
