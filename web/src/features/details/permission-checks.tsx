import { stripToolName } from '@/system/format/arguments'
import type { ToolPart } from '@/system/rows/model'
import { wasRejected } from '@/system/selectors/activity'
import { Badge, type Tone } from '@/ui/marks'
import { describeReasons } from '../shared/code-texts'
import { useT } from '../shared/surface'

const TONES: Readonly<Record<string, Tone>> = { allow: 'good', ask: 'warn', deny: 'bad', refused: 'bad' }

/**
 * The final verdict on a call. A call that ended without a start was rejected, or not run because its
 * turn was stopped. The first verdict does not matter.
 */
function findFinalVerdict(tool: ToolPart): string {
  if (tool.startedAt !== 0 || tool.verdict === '' || tool.verdict === 'deny') return tool.verdict
  if (tool.state === 'cancelled') return 'not_run'
  return wasRejected(tool) ? 'rejected' : tool.verdict
}

/** The gate's checks of each call, and its sandbox. */
export function PermissionChecks({ tools }: { tools: readonly ToolPart[] }) {
  const t = useT()
  if (tools.length === 0) return <p className="text-ink-faint">{t('details.no_permissions')}</p>
  return (
    <ul className="space-y-2">
      {tools.map((tool) => (
        <li key={tool.key}>
          <p className="flex items-center gap-2">
            <span className="font-medium">{tool.tool}</span>
            <span className="min-w-0 flex-1 truncate font-mono text-sm text-ink-faint">
              {stripToolName(tool.tool, tool.summary)}
            </span>
            <Badge tone={TONES[findFinalVerdict(tool)] ?? 'quiet'}>
              {t.find(`verdict.${findFinalVerdict(tool)}`) ?? t('app.unknown')}
            </Badge>
          </p>
          <ul className="text-sm text-ink-soft">
            {tool.checks.map((check) => (
              <li key={check.name} className="flex gap-2">
                <span className="w-16 shrink-0 text-ink-faint">{t(`check.${check.name}`)}</span>
                <span className="wrap-any min-w-0">
                  {t(`verdict.${check.verdict}`)}{' '}
                  <span className="text-ink-faint">
                    {describeReasons(t, check.reasons, check.detail ?? '')}
                  </span>
                </span>
              </li>
            ))}
            <li className="flex gap-2">
              <span className="w-16 shrink-0 text-ink-faint">{t('details.sandbox')}</span>
              <SandboxLine tool={tool} />
            </li>
          </ul>
        </li>
      ))}
    </ul>
  )
}

/** The sandbox of a call that ran; "none" is shown as such. Imported calls have no record of it. */
function SandboxLine({ tool }: { tool: ToolPart }) {
  const t = useT()
  if (tool.sandbox === '') {
    const ran = tool.startedAt !== 0 || tool.state === 'output-available'
    return <span className="text-ink-faint">{t(ran ? 'app.unknown' : 'tool.not_run')}</span>
  }
  const network = t(tool.network ? 'details.network' : 'details.no_network')
  const level = tool.sandbox === 'none' ? t('app.none') : tool.sandbox
  return (
    <span className={tool.sandbox === 'none' ? 'text-warn' : ''}>
      {level} <span className="text-ink-faint">{network}</span>
    </span>
  )
}
