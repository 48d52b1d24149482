import { Fields } from '@/system/format/fields'
import type { Translate } from '@/system/i18n/translate'
import type { ToolPart } from '@/system/rows/model'
import { describeActivity } from '../shared/code-texts'
import type { Names } from '../shared/surface'

/** The text of a team call: the action, and its message. */
export interface TeamCall {
  readonly action: string
  readonly message: string
}

/**
 * Describe a team call from its arguments and its answer; null for any other tool. Without an answer,
 * describe only the intention.
 */
export function describeTeamCall(t: Translate, part: ToolPart, names: Names): TeamCall | null {
  const doing = describeActivity(t, part.tool)
  if (doing === null) return null
  const fields = Fields.parse(part.arguments.text)
  if (part.state !== 'output-available')
    return buildTeamCall(doing, describeSubject(part.tool, fields, names))
  return describeCompleted(t, part, fields, names) ?? buildTeamCall(doing)
}

/** The agents or task that a call is about. */
function describeSubject(tool: string, fields: Fields, names: Names): string {
  const agents = [fields.getText('agent'), fields.getText('to'), fields.getText('reviewer')].filter(Boolean)
  const receivers = joinNames([...agents, ...fields.listTexts('agents'), ...fields.listTexts('to')], names)
  const subject =
    tool === 'update_task'
      ? names.nameTask(fields.getText('task_id'))
      : fields.getText('question') ||
        fields.getText('summary') ||
        fields.getText('title') ||
        fields.getText('objective') ||
        fields.getText('message') ||
        fields.getText('text')
  return [receivers, subject].filter(Boolean).join(': ')
}

function describeCompleted(t: Translate, part: ToolPart, fields: Fields, names: Names): TeamCall | null {
  const answer = Fields.parse(part.output.text)
  const agent = names.nameAgent(answer.getText('agent_id') || fields.getText('agent'))
  switch (part.tool) {
    case 'spawn_subagent':
      return buildTeamCall(
        t('call.spawned', { agent }),
        fields.getText('title') || fields.getText('objective'),
      )
    case 'send_subagent_input':
      return buildTeamCall(t('call.input', { agent }), fields.getText('text'))
    case 'wait_subagents':
      return describeWait(t, answer, names)
    case 'close_subagent':
      return buildTeamCall(t('call.closed', { agent }), fields.getText('reason'))
    case 'list_subagents':
      return buildTeamCall(t('call.listed'))
    case 'merge_subagent':
      return buildTeamCall(t('call.merged', { agent }))
    case 'define_agent':
      return buildTeamCall(
        t('call.defined', { agent: fields.getText('name') || agent }),
        fields.getText('description'),
      )
    case 'add_edge':
      return buildTeamCall(t('call.edge', { agent: names.nameAgent(fields.getText('to')) }))
    case 'send_handoff':
      return buildTeamCall(
        t('call.handed', { agent: names.nameAgent(fields.getText('to')) }),
        fields.getText('message'),
      )
    case 'respond_handoff':
      return buildTeamCall(
        t.find(`call.handoff.${fields.getText('decision')}`) ?? t('call.handoff'),
        fields.getText('reason'),
      )
    case 'send_message':
      return buildTeamCall(
        t('call.wrote', { agents: joinNames(fields.listTexts('to'), names) }),
        fields.getText('text'),
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
  const agent = names.nameAgent(fields.getText('agent'))
  switch (part.tool) {
    case 'request_review': {
      const [reviewer, target] = [
        names.nameAgent(fields.getText('reviewer')),
        names.nameAgent(fields.getText('target')),
      ]
      const action =
        target === '' ? t('call.review', { reviewer }) : t('call.review_of', { reviewer, target })
      return buildTeamCall(action, fields.getText('instructions'))
    }
    case 'submit_verdict': {
      const verdict = fields.getText('verdict')
      const verdictText = agent === '' ? null : t.find(`call.verdict.${verdict}_of`, { agent })
      return buildTeamCall(
        verdictText ?? t.find(`call.verdict.${verdict}`) ?? t('call.verdict'),
        fields.getText('summary'),
      )
    }
    case 'create_task': {
      const assignee = names.nameAgent(fields.getText('assignee'))
      const action = assignee === '' ? t('call.task') : t('call.task_for', { agent: assignee })
      return buildTeamCall(action, fields.getText('title'))
    }
    case 'update_task':
      return describeTaskChange(t, fields, names)
    case 'ask_person':
      return buildTeamCall(t('call.asked_you'), fields.getText('question'))
    case 'propose_plan':
      return buildTeamCall(
        t.find(`call.plan.${answer.getText('decision')}`) ?? t('call.plan'),
        fields.getText('summary'),
      )
    case 'Finalize':
      return buildTeamCall(t('call.finished'), fields.getText('summary'))
    default:
      return null
  }
}

function describeTaskChange(t: Translate, fields: Fields, names: Names): TeamCall {
  const task = names.nameTask(fields.getText('task_id'))
  const column = t.find(`team.task.${fields.getText('status')}`)
  const assignee = names.nameAgent(fields.getText('assignee'))
  if (column !== null) return buildTeamCall(t('call.moved', { column }), task)
  if (assignee !== '') return buildTeamCall(t('call.assigned', { agent: assignee }), task)
  const message = fields.getText('progress') || fields.getText('comment')
  if (message !== '') return buildTeamCall(t('call.reported', { task }), message)
  return buildTeamCall(t('call.changed'), task)
}

function describeWait(t: Translate, answer: Fields, names: Names): TeamCall {
  const agents = joinNames(
    answer.listObjects('ended').map((ended) => ended.getText('agent_id')),
    names,
  )
  if (answer.getFlag('timed_out')) return buildTeamCall(t('call.waited_long'), agents)
  return agents === '' ? buildTeamCall(t('call.waited')) : buildTeamCall(t('call.heard', { agents }))
}

function joinNames(ids: readonly string[], names: Names): string {
  return ids.map(names.nameAgent).join(', ')
}

function buildTeamCall(action: string, message = ''): TeamCall {
  return { action, message }
}
