import { type ReactNode, useId, useState } from 'react'
import type { PermissionMode } from '@/system/generated/contracts'
import { PERMISSION_MODES } from '@/system/generated/contracts'
import type { Refusal } from '@/system/stores/notice-store'
import { FIELD, FormDialog } from '../shared/form-dialog'
import { RefusalText } from '../shared/refusal'
import { useT } from '../shared/surface'
import type { AgentOffer, NewJob } from '../shared/team-handlers'

const ITEMS = 500
const AT_ONCE = 64
type Name = 'title' | 'instructions' | 'items' | 'agent' | 'parallel' | 'permissionMode'
const NAMES: readonly Name[] = ['title', 'instructions', 'items', 'agent', 'parallel', 'permissionMode']

interface Typed {
  readonly title: string
  readonly instructions: string
  readonly items: string
  readonly agent: string
  readonly parallel: string
  readonly permissionMode: PermissionMode | ''
}

/** Creates a job. The job appears with its fact; the form stays if it is refused. */
export function NewJobDialog(props: {
  /** Subagents that can work on items; null if unknown. */
  readonly subagents: readonly AgentOffer[] | null
  /** Whether the job starts a new session. */
  readonly beginsSession?: boolean
  readonly onCreate: (job: NewJob) => Promise<Refusal | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const { subagents } = props
  const [typed, setTyped] = useState<Typed>({
    title: '',
    instructions: '',
    items: '',
    agent: subagents?.length === 1 ? (subagents[0]?.name ?? '') : '',
    parallel: '',
    permissionMode: '',
  })
  const [checked, setChecked] = useState(false)
  const [sending, setSending] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const lines = splitLines(typed.items)
  const problems = useProblems(typed, lines.length, subagents)
  const refusedField = NAMES.find((name) => name === refusal?.field.split('.')[0])
  const change = (values: Partial<Typed>) => {
    setTyped({ ...typed, ...values })
    if (refusedField !== undefined && refusedField in values) setRefusal(null)
  }
  const renderProblem = (name: Name): ReactNode => {
    if (checked && problems[name] !== undefined) return problems[name]
    return refusedField === name && refusal !== null ? <RefusalText refusal={refusal} /> : null
  }
  const create = async () => {
    setChecked(true)
    if (Object.keys(problems).length > 0 || sending) return
    setSending(true)
    const refusal = await props.onCreate({
      title: typed.title.trim(),
      instructions: typed.instructions.trim(),
      items: lines.map((input) => ({ input })),
      agent: typed.agent.trim() || null,
      parallel: typed.parallel.trim() === '' ? null : Number(typed.parallel),
      permissionMode: typed.permissionMode === '' ? null : typed.permissionMode,
    })
    setSending(false)
    setRefusal(refusal)
    if (refusal === null) props.onDone()
  }
  const tooMany = lines.length > ITEMS ? problems.items : undefined
  return (
    <FormDialog
      title={t('team.new_job')}
      action={t('team.job_start')}
      disabled={sending}
      refusal={refusedField === undefined ? refusal : null}
      onSend={() => void create()}
      onDone={props.onDone}
      className="max-h-[80vh] space-y-3 overflow-y-auto"
    >
      <JobField label={t('team.task_title')} problem={renderProblem('title')}>
        {(field) => (
          <input
            {...field}
            value={typed.title}
            maxLength={200}
            onChange={(event) => change({ title: event.target.value })}
            className={`h-8 ${FIELD}`}
          />
        )}
      </JobField>
      <JobField label={t('team.job_instructions')} problem={renderProblem('instructions')}>
        {(field) => (
          <textarea
            {...field}
            value={typed.instructions}
            rows={2}
            onChange={(event) => change({ instructions: event.target.value })}
            className={`block field-sizing-content max-h-40 min-h-14 resize-none py-1.5 ${FIELD}`}
          />
        )}
      </JobField>
      <JobField
        label={t('team.job_items')}
        beside={
          <output className={`tabular text-sm ${tooMany === undefined ? 'text-ink-faint' : 'text-bad'}`}>
            {tooMany ?? t.count('team.job_lines', lines.length)}
          </output>
        }
        problem={tooMany === undefined ? renderProblem('items') : null}
        wrong={tooMany !== undefined}
      >
        {(field) => (
          <textarea
            {...field}
            value={typed.items}
            rows={5}
            wrap="off"
            onChange={(event) => change({ items: event.target.value })}
            className={`block field-sizing-content max-h-56 min-h-28 resize-none overflow-auto py-1.5 ${FIELD}`}
          />
        )}
      </JobField>
      <div className="flex flex-wrap gap-x-4 gap-y-3">
        <JobField label={t('team.job_agent')} problem={renderProblem('agent')} className="min-w-40 flex-1">
          {(field) => {
            const agent = { ...field, value: typed.agent, className: `h-8 ${FIELD}` }
            const onChange = (event: { target: { value: string } }) => change({ agent: event.target.value })
            if (subagents === null) {
              return <input {...agent} placeholder={t('team.job_agent_only')} onChange={onChange} />
            }
            return (
              <select {...agent} onChange={onChange}>
                {subagents.length !== 1 && <option value="">{t('team.job_agent_choose')}</option>}
                {subagents.map((agent) => (
                  <option key={agent.name} value={agent.name}>
                    {agent.name}
                  </option>
                ))}
              </select>
            )
          }}
        </JobField>
        <JobField label={t('team.job_parallel')} problem={renderProblem('parallel')} className="w-30">
          {(field) => (
            <input
              {...field}
              inputMode="numeric"
              value={typed.parallel}
              maxLength={3}
              placeholder={t('team.job_parallel_default')}
              onChange={(event) => change({ parallel: event.target.value })}
              className={`h-8 ${FIELD}`}
            />
          )}
        </JobField>
        <JobField
          label={t('team.job_permission')}
          problem={renderProblem('permissionMode')}
          className="min-w-48 flex-1"
        >
          {(field) => (
            <select
              {...field}
              value={typed.permissionMode}
              onChange={(event) =>
                change({ permissionMode: PERMISSION_MODES.find((mode) => mode === event.target.value) ?? '' })
              }
              className={`h-8 ${FIELD}`}
            >
              <option value="">
                {t(props.beginsSession ? 'team.job_permission_default' : 'team.job_permission_inherited')}
              </option>
              {PERMISSION_MODES.map((mode) => (
                <option key={mode} value={mode}>
                  {t(`composer.permission.${mode}`)}
                </option>
              ))}
            </select>
          )}
        </JobField>
      </div>
      <SubagentDescription subagents={subagents} name={typed.agent} />
    </FormDialog>
  )
}

/** The description of the chosen subagent. */
function SubagentDescription({ subagents, name }: { subagents: readonly AgentOffer[] | null; name: string }) {
  const description = subagents?.find((agent) => agent.name === name)?.description ?? ''
  if (description === '') return null
  return <p className="wrap-any line-clamp-2 text-sm text-ink-faint">{description}</p>
}

/** Validation problems by field. */
function useProblems(
  typed: Typed,
  lines: number,
  subagents: readonly AgentOffer[] | null,
): Partial<Record<Name, string>> {
  const t = useT()
  const wrong: Partial<Record<Name, string>> = {}
  if (typed.title.trim() === '') wrong.title = t('team.job_untitled')
  if (lines === 0) wrong.items = t('team.job_no_items')
  if (lines > ITEMS) wrong.items = t('team.job_too_many', { count: lines, most: ITEMS })
  if (subagents?.length === 0) wrong.agent = t('team.job_no_agent')
  else if (subagents !== null && typed.agent === '') wrong.agent = t('team.job_agent_missing')
  if (!isParallel(typed.parallel))
    wrong.parallel = t('team.job_parallel_invalid', { least: 1, most: AT_ONCE })
  return wrong
}

function isParallel(typed: string): boolean {
  const text = typed.trim()
  return text === '' || (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= AT_ONCE)
}

function splitLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

interface FieldAttributes {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string | undefined
}

/** A field with its label and its problem. */
function JobField(props: {
  readonly label: string
  readonly problem: ReactNode
  /** Whether the field is invalid, if another element shows its problem. */
  readonly wrong?: boolean
  readonly beside?: ReactNode
  readonly className?: string
  readonly children: (field: FieldAttributes) => ReactNode
}) {
  const id = useId()
  const hasProblem = props.problem !== null
  return (
    <div className={`space-y-1 ${props.className ?? ''}`}>
      <div className="flex flex-wrap items-baseline justify-between gap-x-2">
        <label htmlFor={id} className="text-sm text-ink-soft">
          {props.label}
        </label>
        {props.beside}
      </div>
      {props.children({
        id,
        'aria-invalid': hasProblem || (props.wrong ?? false),
        'aria-describedby': hasProblem ? `${id}-said` : undefined,
      })}
      {hasProblem && (
        <div id={`${id}-said`} role="alert" className="wrap-any text-bad">
          {props.problem}
        </div>
      )}
    </div>
  )
}
