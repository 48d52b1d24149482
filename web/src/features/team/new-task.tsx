import { type ReactNode, useId, useState } from 'react'
import type { AgentRow, TaskRow } from '@/system/rows/model'
import type { Refused } from '@/system/workbench/notices'
import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { RadioGroup } from '@/ui/radio-group'
import { RefusedHere } from '../connection/notices'
import { useT } from '../shared/surface'
import type { NewTask } from './handlers'

const FIELD = 'w-full rounded-md border border-line-strong bg-paper px-2'
const PRIORITIES = ['high', 'normal', 'low'] as const

/** Puts a task on the board. It is there when its fact comes; what was typed stays where it was not taken. */
export function NewTaskDialog(props: {
  readonly agents: readonly AgentRow[]
  readonly tasks: readonly TaskRow[]
  readonly onMake: (task: NewTask) => Promise<Refused | null>
  readonly onDone: () => void
}) {
  const t = useT()
  const [title, setTitle] = useState('')
  const [objective, setObjective] = useState('')
  const [assignee, setAssignee] = useState('')
  const [priority, setPriority] = useState<(typeof PRIORITIES)[number]>('normal')
  const [before, setBefore] = useState<ReadonlySet<string>>(new Set())
  const [untitled, setUntitled] = useState(false)
  const [sending, setSending] = useState(false)
  const [refused, setRefused] = useState<Refused | null>(null)
  const problem = useId()
  const open = props.tasks.filter((task) => task.status !== 'done' && task.status !== 'cancelled')
  const make = async () => {
    setUntitled(title.trim() === '')
    if (title.trim() === '' || sending) return
    setSending(true)
    const why = await props.onMake({
      title: title.trim(),
      objective: objective.trim(),
      assignee: assignee === '' ? null : assignee,
      dependsOn: [...before],
      priority,
    })
    setSending(false)
    setRefused(why)
    if (why === null) props.onDone()
  }
  return (
    <Dialog label={t('team.new_task')} onClose={props.onDone}>
      <form
        className="max-h-[76vh] space-y-3 overflow-y-auto p-4"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <h2 className="text-lg font-semibold">{t('team.new_task')}</h2>
        <Field label={t('team.task_title')}>
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
        <Field label={t('team.task_objective')}>
          <textarea
            value={objective}
            rows={3}
            onChange={(event) => setObjective(event.target.value)}
            className={`field-sizing-content max-h-48 min-h-16 resize-none py-1.5 ${FIELD}`}
          />
        </Field>
        <div className="flex flex-wrap gap-x-4 gap-y-3">
          <Field label={t('team.task_assignee')}>
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
          <fieldset className="space-y-0.5">
            <legend className="pb-1 text-sm text-ink-soft">{t('team.task_after')}</legend>
            <div className="max-h-36 overflow-y-auto">
              {open.map((task) => (
                <label key={task.key} className="flex min-h-6 items-start gap-2">
                  <input
                    type="checkbox"
                    className="mt-1"
                    checked={before.has(task.key)}
                    onChange={(event) => setBefore(including(before, task.key, event.target.checked))}
                  />
                  <span className="wrap-any">{task.title}</span>
                </label>
              ))}
            </div>
          </fieldset>
        )}
        <RefusedHere refused={refused} />
        <div className="flex justify-end gap-2">
          <Button look="outline" onClick={props.onDone}>
            {t('app.cancel')}
          </Button>
          <Button look="solid" type="submit" disabled={sending}>
            {t('team.task_make')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function Field(props: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the field is its child
    <label className="block flex-1 space-y-1">
      <span className="block text-sm text-ink-soft">{props.label}</span>
      {props.children}
    </label>
  )
}

function including(set: ReadonlySet<string>, key: string, is: boolean): ReadonlySet<string> {
  return new Set(is ? [...set, key] : [...set].filter((one) => one !== key))
}
