import { Fields } from '@/system/format/fields'
import type { Translate } from '@/system/i18n/translate'
import type { ToolPart } from '@/system/rows/model'
import { activityText } from '../shared/code-texts'
import type { Names } from '../shared/surface'

/** A team call in words: the action, and its message. */
export interface TeamCall {
  readonly action: string
  readonly message: string
}

/**
 * Describe a team call from its arguments and its answer; null for any other tool. Without an answer,
 * describe only the intention.
 */
export function describeTeamCall(t: Translate, part: ToolPart, names: Names): TeamCall | null {
  const doing = activityText(t, part.tool)
  if (doing === null) return null
  const fields = Fields.of(part.arguments.text)
  if (part.state !== 'output-available') return toTeamCall(doing, callSubject(part.tool, fields, names))
  return describeCompleted(t, part, fields, names) ?? toTeamCall(doing)
}

/** The agents or task that a call is about. */
function callSubject(tool: string, fields: Fields, names: Names): string {
  const agents = [fields.text('agent'), fields.text('to'), fields.text('reviewer')].filter(Boolean)
  const receivers = joinNames([...agents, ...fields.texts('agents'), ...fields.texts('to')], names)
  const subject =
    tool === 'update_task'
      ? names.task(fields.text('task_id'))
      : fields.text('question') ||
        fields.text('summary') ||
        fields.text('title') ||
        fields.text('objective') ||
        fields.text('message') ||
        fields.text('text')
  return [receivers, subject].filter(Boolean).join(': ')
}

function describeCompleted(t: Translate, part: ToolPart, fields: Fields, names: Names): TeamCall | null {
  const answer = Fields.of(part.output.text)
  const agent = names.agent(answer.text('agent_id') || fields.text('agent'))
  switch (part.tool) {
    case 'spawn_subagent':
      return toTeamCall(t('call.spawned', { agent }), fields.text('title') || fields.text('objective'))
    case 'send_subagent_input':
      return toTeamCall(t('call.input', { agent }), fields.text('text'))
    case 'wait_subagents':
      return describeWait(t, answer, names)
    case 'close_subagent':
      return toTeamCall(t('call.closed', { agent }), fields.text('reason'))
    case 'list_subagents':
      return toTeamCall(t('call.listed'))
    case 'merge_subagent':
      return toTeamCall(t('call.merged', { agent }))
    case 'define_agent':
      return toTeamCall(
        t('call.defined', { agent: fields.text('name') || agent }),
        fields.text('description'),
      )
    case 'add_edge':
      return toTeamCall(t('call.edge', { agent: names.agent(fields.text('to')) }))
    case 'send_handoff':
      return toTeamCall(t('call.handed', { agent: names.agent(fields.text('to')) }), fields.text('message'))
    case 'respond_handoff':
      return toTeamCall(
        t.maybe(`call.handoff.${fields.text('decision')}`) ?? t('call.handoff'),
        fields.text('reason'),
      )
    case 'send_message':
      return toTeamCall(
        t('call.wrote', { agents: joinNames(fields.texts('to'), names) }),
        fields.text('text'),
      )
    default:
      return describeTaskCall(t, part, [fields, answer], names)
  }
}

function describeTaskCall(
  t: Translate,
  part: ToolPart,
  [fields, answer]: readonly [Fields, Fields],
  names: Names,
): TeamCall | null {
  const agent = names.agent(fields.text('agent'))
  switch (part.tool) {
    case 'request_review': {
      const [reviewer, target] = [names.agent(fields.text('reviewer')), names.agent(fields.text('target'))]
      const action =
        target === '' ? t('call.review', { reviewer }) : t('call.review_of', { reviewer, target })
      return toTeamCall(action, fields.text('instructions'))
    }
    case 'submit_verdict': {
      const verdict = fields.text('verdict')
      const verdictText = agent === '' ? null : t.maybe(`call.verdict.${verdict}_of`, { agent })
      return toTeamCall(
        verdictText ?? t.maybe(`call.verdict.${verdict}`) ?? t('call.verdict'),
        fields.text('summary'),
      )
    }
    case 'create_task': {
      const assignee = names.agent(fields.text('assignee'))
      const action = assignee === '' ? t('call.task') : t('call.task_for', { agent: assignee })
      return toTeamCall(action, fields.text('title'))
    }
    case 'update_task':
      return describeTaskChange(t, fields, names)
    case 'ask_person':
      return toTeamCall(t('call.asked_you'), fields.text('question'))
    case 'propose_plan':
      return toTeamCall(
        t.maybe(`call.plan.${answer.text('decision')}`) ?? t('call.plan'),
        fields.text('summary'),
      )
    case 'Finalize':
      return toTeamCall(t('call.finished'), fields.text('summary'))
    default:
      return null
  }
}

function describeTaskChange(t: Translate, fields: Fields, names: Names): TeamCall {
  const task = names.task(fields.text('task_id'))
  const column = t.maybe(`team.task.${fields.text('status')}`)
  const assignee = names.agent(fields.text('assignee'))
  if (column !== null) return toTeamCall(t('call.moved', { column }), task)
  if (assignee !== '') return toTeamCall(t('call.assigned', { agent: assignee }), task)
  const message = fields.text('progress') || fields.text('comment')
  if (message !== '') return toTeamCall(t('call.reported', { task }), message)
  return toTeamCall(t('call.changed'), task)
}

function describeWait(t: Translate, answer: Fields, names: Names): TeamCall {
  const agents = joinNames(
    answer.objects('ended').map((ended) => ended.text('agent_id')),
    names,
  )
  if (answer.flag('timed_out')) return toTeamCall(t('call.waited_long'), agents)
  return agents === '' ? toTeamCall(t('call.waited')) : toTeamCall(t('call.heard', { agents }))
}

function joinNames(ids: readonly string[], names: Names): string {
  return ids.map(names.agent).join(', ')
}

function toTeamCall(action: string, message = ''): TeamCall {
  return { action, message }
}
