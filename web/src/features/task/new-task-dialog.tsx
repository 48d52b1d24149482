import { useId, useState } from 'react'
import type { AgentRow, TaskRow } from '@/system/rows/model'
import type { Refusal } from '@/system/stores/notice-store'
import { RadioGroup } from '@/ui/radio-group'
import { CheckboxList, FIELD, Field, FormDialog } from '../shared/form-dialog'
import { useT } from '../shared/surface'
import type { NewTask } from '../shared/team-handlers'

const PRIORITIES = ['high', 'normal', 'low'] as const

/** Creates a task. The task appears with its fact; the form stays if it is refused. */
export function NewTaskDialog(props: {
  readonly agents: readonly AgentRow[]
  readonly tasks: readonly TaskRow[]
  readonly onCreate: (task: NewTask) => Promise<Refusal | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const [title, setTitle] = useState('')
  const [objective, setObjective] = useState('')
  const [assignee, setAssignee] = useState('')
  const [priority, setPriority] = useState<(typeof PRIORITIES)[number]>('normal')
  const [dependencies, setDependencies] = useState<ReadonlySet<string>>(new Set())
  const [untitled, setUntitled] = useState(false)
  const [sending, setSending] = useState(false)
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const problem = useId()
  const open = props.tasks.filter((task) => task.status !== 'done' && task.status !== 'cancelled')
  const create = async () => {
    setUntitled(title.trim() === '')
    if (title.trim() === '' || sending) return
    setSending(true)
    const refusal = await props.onCreate({
      title: title.trim(),
      objective: objective.trim(),
      assignee: assignee === '' ? null : assignee,
      dependsOn: [...dependencies],
      priority,
    })
    setSending(false)
    setRefusal(refusal)
    if (refusal === null) props.onDone()
  }
  return (
    <FormDialog
      title={t('team.new_task')}
      action={t('team.task_create')}
      disabled={sending}
      refusal={refusal}
      onSend={() => void create()}
      onDone={props.onDone}
      className="max-h-[76vh] space-y-3 overflow-y-auto"
    >
      <Field className="flex-1" label={t('team.task_title')}>
        <input
          value={title}
          maxLength={200}
          aria-invalid={untitled}
          aria-describedby={untitled ? problem : undefined}
          onChange={(event) => setTitle(event.target.value)}
          className={`h-8 ${FIELD}`}
        />
      </Field>
      {untitled && (
        <p id={problem} role="alert" className="text-bad">
          {t('team.task_untitled')}
        </p>
      )}
      <Field className="flex-1" label={t('team.task_objective')}>
        <textarea
          value={objective}
          rows={3}
          onChange={(event) => setObjective(event.target.value)}
          className={`field-sizing-content max-h-48 min-h-16 resize-none py-1.5 ${FIELD}`}
        />
      </Field>
      <div className="flex flex-wrap gap-x-4 gap-y-3">
        <Field className="flex-1" label={t('team.task_assignee')}>
          <select
            value={assignee}
            onChange={(event) => setAssignee(event.target.value)}
            className={`h-8 min-w-40 ${FIELD}`}
          >
            <option value="">{t('team.unassigned')}</option>
            {props.agents
              .filter((agent) => agent.state !== 'closed')
              .map((agent) => (
                <option key={agent.key} value={agent.agentId}>
                  {agent.name}
                </option>
              ))}
          </select>
        </Field>
        <div className="space-y-1">
          <span className="block text-sm text-ink-soft">{t('team.task_priority')}</span>
          <RadioGroup
            label={t('team.task_priority')}
            value={priority}
            onChange={setPriority}
            choices={PRIORITIES.map((value) => ({ value, label: t(`team.priority.${value}`) }))}
          />
        </div>
      </div>
      {open.length > 0 && (
        <CheckboxList
          legend={<legend className="pb-1 text-sm text-ink-soft">{t('team.task_after')}</legend>}
          choices={open.map((task) => ({ key: task.key, label: task.title }))}
          chosen={dependencies}
          onChosen={setDependencies}
          className="max-h-36"
        />
      )}
    </FormDialog>
  )
}
