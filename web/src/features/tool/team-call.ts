import { Fields } from '@/system/format/fields'
import type { Translate } from '@/system/i18n/translate'
import type { ToolPart } from '@/system/rows/model'
import { doingText } from '../shared/code-texts'
import type { Names } from '../shared/surface'

/** A call in words: what was done and with whom, and what was said. */
export interface Told {
  readonly did: string
  readonly said: string
}

/**
 * What an agent does with its team, from the arguments and the answer of its call; null for any other tool. While there is no
 * answer yet only what it is about to do is known.
 */
export function teamCall(t: Translate, part: ToolPart, names: Names): Told | null {
  const doing = doingText(t, part.tool)
  if (doing === null) return null
  const asked = Fields.of(part.arguments.text)
  if (part.state !== 'output-available') return told(doing, about(part.tool, asked, names))
  return done(t, part, asked, names) ?? told(doing)
}

/** Whom or what a call is about, before anything is known of its end. */
function about(tool: string, asked: Fields, names: Names): string {
  const agents = [asked.text('agent'), asked.text('to'), asked.text('reviewer')].filter(Boolean)
  const whom = listed([...agents, ...asked.texts('agents'), ...asked.texts('to')], names)
  const what =
    tool === 'update_task'
      ? names.task(asked.text('task_id'))
      : asked.text('question') ||
        asked.text('summary') ||
        asked.text('title') ||
        asked.text('objective') ||
        asked.text('message') ||
        asked.text('text')
  return [whom, what].filter(Boolean).join(': ')
}

function done(t: Translate, part: ToolPart, asked: Fields, names: Names): Told | null {
  const answer = Fields.of(part.output.text)
  const agent = names.agent(answer.text('agent_id') || asked.text('agent'))
  switch (part.tool) {
    case 'spawn_subagent':
      return told(t('call.spawned', { agent }), asked.text('title') || asked.text('objective'))
    case 'send_subagent_input':
      return told(t('call.input', { agent }), asked.text('text'))
    case 'wait_subagents':
      return waited(t, answer, names)
    case 'close_subagent':
      return told(t('call.closed', { agent }), asked.text('reason'))
    case 'list_subagents':
      return told(t('call.listed'))
    case 'merge_subagent':
      return told(t('call.merged', { agent }))
    case 'define_agent':
      return told(t('call.defined', { agent: asked.text('name') || agent }), asked.text('description'))
    case 'add_edge':
      return told(t('call.edge', { agent: names.agent(asked.text('to')) }))
    case 'send_handoff':
      return told(t('call.handed', { agent: names.agent(asked.text('to')) }), asked.text('message'))
    case 'respond_handoff':
      return told(
        t.maybe(`call.handoff.${asked.text('decision')}`) ?? t('call.handoff'),
        asked.text('reason'),
      )
    case 'send_message':
      return told(t('call.wrote', { agents: listed(asked.texts('to'), names) }), asked.text('text'))
    default:
      return ofWork(t, part, [asked, answer], names)
  }
}

function ofWork(
  t: Translate,
  part: ToolPart,
  [asked, answer]: readonly [Fields, Fields],
  names: Names,
): Told | null {
  const agent = names.agent(asked.text('agent'))
  switch (part.tool) {
    case 'request_review': {
      const [reviewer, target] = [names.agent(asked.text('reviewer')), names.agent(asked.text('target'))]
      const did = target === '' ? t('call.review', { reviewer }) : t('call.review_of', { reviewer, target })
      return told(did, asked.text('instructions'))
    }
    case 'submit_verdict': {
      const verdict = asked.text('verdict')
      const named = agent === '' ? null : t.maybe(`call.verdict.${verdict}_of`, { agent })
      return told(named ?? t.maybe(`call.verdict.${verdict}`) ?? t('call.verdict'), asked.text('summary'))
    }
    case 'create_task': {
      const assignee = names.agent(asked.text('assignee'))
      const did = assignee === '' ? t('call.task') : t('call.task_for', { agent: assignee })
      return told(did, asked.text('title'))
    }
    case 'update_task':
      return changed(t, asked, names)
    case 'ask_person':
      return told(t('call.asked_you'), asked.text('question'))
    case 'propose_plan':
      return told(t.maybe(`call.plan.${answer.text('decision')}`) ?? t('call.plan'), asked.text('summary'))
    case 'Finalize':
      return told(t('call.finished'), asked.text('summary'))
    default:
      return null
  }
}

function changed(t: Translate, asked: Fields, names: Names): Told {
  const task = names.task(asked.text('task_id'))
  const column = t.maybe(`team.task.${asked.text('status')}`)
  const assignee = names.agent(asked.text('assignee'))
  if (column !== null) return told(t('call.moved', { column }), task)
  if (assignee !== '') return told(t('call.assigned', { agent: assignee }), task)
  const said = asked.text('progress') || asked.text('comment')
  if (said !== '') return told(t('call.reported', { task }), said)
  return told(t('call.changed'), task)
}

function waited(t: Translate, answer: Fields, names: Names): Told {
  const agents = listed(
    answer.objects('ended').map((ended) => ended.text('agent_id')),
    names,
  )
  if (answer.flag('timed_out')) return told(t('call.waited_long'), agents)
  return agents === '' ? told(t('call.waited')) : told(t('call.heard', { agents }))
}

function listed(ids: readonly string[], names: Names): string {
  return ids.map(names.agent).join(', ')
}

function told(did: string, said = ''): Told {
  return { did, said }
}
