import { formatClockTime, formatCount, formatDuration } from '@/system/format/numbers'
import type { Part, StatusRow, ToolPart, TurnRow } from '@/system/rows/model'
import { measureTurn, summarizeActivity } from '@/system/selectors/activity'
import { CopyButton } from '@/ui/copy-button'
import { Disclosure } from '@/ui/disclosure'
import { Fact, Facts } from '@/ui/facts'
import { type Tab, type TabRequest, Tabs } from '@/ui/tabs'
import { formatModel } from '../shared/code-texts'
import { useT } from '../shared/surface'
import { PermissionChecks } from './permission-checks'

export interface TurnDetailsProps {
  readonly turn: TurnRow | null
  readonly parts: readonly Part[]
  /** The thread's status, if it is about this turn. */
  readonly status: StatusRow | null
  readonly sessionId: string
  /** Whether the turn was imported: another product recorded no mode and no permission. */
  readonly imported?: boolean
  /** Tabs before those of the turn. */
  readonly first?: readonly Tab[]
  /** Tabs after those of the turn. */
  readonly last?: readonly Tab[]
  readonly requestedTab?: TabRequest | null
}

/** The details of a turn, in tabs. */
export function TurnDetails(props: TurnDetailsProps) {
  const t = useT()
  const { turn, parts, first = NONE, last = NONE, requestedTab = null } = props
  if (turn === null) {
    const none = <p className="px-4 text-ink-faint">{t('details.none')}</p>
    const rest = [...first, ...last]
    return rest.length === 0 ? none : <Tabs label={t('details.title')} tabs={rest} request={requestedTab} />
  }
  const tools = parts.filter((part): part is ToolPart => part.kind === 'tool_call')
  return (
    <Tabs
      label={t('details.title')}
      request={requestedTab}
      tabs={[
        ...first,
        { id: 'turn', label: t('details.turn'), content: <Turn {...props} turn={turn} tools={tools} /> },
        { id: 'permissions', label: t('details.permissions'), content: <PermissionChecks tools={tools} /> },
        ...last,
      ]}
    />
  )
}

const NONE: readonly Tab[] = []

function Turn(props: TurnDetailsProps & { readonly turn: TurnRow; readonly tools: readonly ToolPart[] }) {
  const t = useT()
  const { turn, parts, status, tools, imported = false } = props
  const changed = listChangedFiles(tools)
  const ran = measureTurn(turn)
  const activity = summarizeActivity(turn, parts)
  const formatTokens = (tokens: number | null) =>
    tokens === null ? t('status.unknown_tokens') : formatCount(tokens, t.locale)
  const hasTokens = turn.inputTokens !== null || turn.outputTokens !== null
  const model = status === null ? '' : formatModel(t, status.provider, status.model)
  return (
    <>
      <Facts>
        <Fact name={t('details.state')}>{t(`turn.state.${turn.state}`)}</Fact>
        <Fact name={t('details.mode')}>{imported ? t('app.unknown') : t(`turn.mode.${turn.mode}`)}</Fact>
        <Fact name={t('details.permission')}>
          {imported ? t('app.unknown') : t(`composer.permission.${turn.permissionMode}`)}
        </Fact>
        <Fact name={t('details.submitted')}>{formatClockTime(turn.submittedAt, t.locale)}</Fact>
        {turn.startedAt > 0 && (
          <Fact name={t('details.started')}>{formatClockTime(turn.startedAt, t.locale)}</Fact>
        )}
        {ran !== null && <Fact name={t('details.duration')}>{formatDuration(ran, t.locale)}</Fact>}
        {activity.waited > 0 && (
          <Fact name={t('details.waited')}>{formatDuration(activity.waited, t.locale)}</Fact>
        )}
        {status !== null && <Fact name={t('details.model')}>{model || t('app.unknown')}</Fact>}
        <Fact name={t('details.iterations')}>{formatCount(turn.iterations, t.locale)}</Fact>
        <Fact name={t('details.tools')}>{formatCount(activity.tools, t.locale)}</Fact>
        <Fact name={t('details.tokens')}>
          {hasTokens
            ? t('status.tokens', {
                input: formatTokens(turn.inputTokens),
                output: formatTokens(turn.outputTokens),
              })
            : t('app.unknown')}
        </Fact>
        <Fact name={t('details.facts')}>
          {t('details.facts_range', { first: turn.order, last: turn.sequence })}
        </Fact>
      </Facts>
      {changed.length > 0 && (
        <Disclosure startsOpen title={t('details.changes')}>
          <ul>
            {changed.map((change) => (
              <li key={change.path} className="flex min-h-6 items-center gap-2 text-sm">
                <span className="wrap-any min-w-0 flex-1 font-mono">{change.path}</span>
                <span className="tabular font-mono">
                  <span className="text-good">+{change.added}</span>{' '}
                  <span className="text-bad">−{change.removed}</span>
                </span>
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
      <Disclosure title={t('details.ids')}>
        <Ids
          ids={[
            ['sessionId', props.sessionId],
            ['threadId', turn.threadId],
            ['turnId', turn.turnId],
            ['runId', turn.runId],
            ['agentId', turn.agentId],
          ]}
        />
      </Disclosure>
    </>
  )
}

function Ids({ ids }: { ids: readonly (readonly [string, string])[] }) {
  const t = useT()
  return (
    <ul>
      {ids.map(([name, id]) => (
        <li key={name} className="flex items-center gap-1 text-sm">
          <span className="min-w-0 flex-1">
            <span className="block text-ink-faint">{name}</span>
            <span className="wrap-any font-mono">{id || t('app.unknown')}</span>
          </span>
          {id && <CopyButton text={id} label={t('details.copy_id', { name })} done={t('app.copied')} />}
        </li>
      ))}
    </ul>
  )
}

function listChangedFiles(tools: readonly ToolPart[]) {
  const files = new Map<string, { path: string; added: number; removed: number }>()
  for (const change of tools.flatMap((tool) => tool.changes)) {
    const file = files.get(change.path) ?? { path: change.path, added: 0, removed: 0 }
    file.added += change.added ?? 0
    file.removed += change.removed ?? 0
    files.set(change.path, file)
  }
  return [...files.values()]
}
