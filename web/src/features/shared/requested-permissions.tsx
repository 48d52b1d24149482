import { markInvisible } from '@/system/format/exact-text'
import type { RequestedPermission, TrustRead } from '@/system/generated/contracts'
import type { Translate } from '@/system/i18n/translate'
import { labelMode } from './code-texts'
import { useT } from './surface'

/** Kinds of requested permissions. Those that run outside the sandbox come first. */
const ORDER = ['hook', 'server', 'permission_mode', 'shell', 'rule', 'agent'] as const

/** Requested permissions by kind, each with the file that requests it. */
export function RequestedPermissions({
  widenings: requests,
}: {
  readonly widenings: TrustRead['widenings']
}) {
  const t = useT()
  const groups = ORDER.map((kind) => ({
    what: kind,
    all: requests.filter((request) => request.what === kind),
  }))
  return (
    // biome-ignore lint/a11y/useSemanticElements: no element means a named scrollable box
    <div
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable box must be reachable by keyboard
      tabIndex={0}
      aria-label={t('trust.requested')}
      className="max-h-[50vh] space-y-2 overflow-y-auto rounded-md border border-line px-2.5 py-2"
    >
      {groups
        .filter(({ all }) => all.length > 0)
        .map(({ what: kind, all }) => (
          <section key={kind}>
            <h3 className="flex items-baseline gap-2 text-sm font-semibold">
              {t(`trust.kind.${kind}`)}
              <span className="tabular text-ink-faint">{all.length}</span>
            </h3>
            <ul aria-label={t(`trust.kind.${kind}`)}>
              {all.map((request) => (
                <Entry key={`${request.file} ${request.detail}`} request={request} />
              ))}
            </ul>
          </section>
        ))}
    </div>
  )
}

function Entry({ request }: { readonly request: RequestedPermission }) {
  const t = useT()
  const { environment, secrets } = request.parameters ?? {}
  const target = describeTarget(request)
  return (
    <li className="wrap-any py-px">
      {t.find(`trust.detail.${request.code}`, escapeParameters(t, request)) ?? markInvisible(request.detail)}{' '}
      {request.file !== request.parameters?.path && (
        <span className="font-mono text-sm text-ink-faint">{markInvisible(request.file)}</span>
      )}
      {target !== '' && (
        <code className="my-0.5 block rounded bg-sunken px-1.5 py-0.5 text-sm">{target}</code>
      )}
      {environment !== undefined && (
        <span className="block text-sm text-ink-soft">
          {t('trust.with_environment', { environment: markInvisible(environment) })}
        </span>
      )}
      {secrets !== undefined && (
        <span className="block text-sm text-warn">
          {t('trust.with_secrets', { secrets: markInvisible(secrets) })}
        </span>
      )}
    </li>
  )
}

/** The program, address or file of a permission. */
function describeTarget({ parameters = {} }: RequestedPermission): string {
  const { command, url, path, digest } = parameters
  const target = command ?? url ?? path ?? ''
  return markInvisible(digest === undefined ? target : `${target} (sha256 ${digest})`)
}

function escapeParameters(
  t: Translate,
  { parameters = {} }: RequestedPermission,
): Readonly<Record<string, string>> {
  const entries = Object.entries(parameters).map(([name, value]) => [name, markInvisible(value)] as const)
  const { mode } = parameters
  return { ...Object.fromEntries(entries), ...(mode !== undefined && { mode: labelMode(t, mode) }) }
}
