import { layOutArguments } from '@/system/format/arguments'
import { Fields } from '@/system/format/fields'
import { formatBytes, formatRelative } from '@/system/format/numbers'
import type { AgentRow, Delivery, Remote } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { CodeBlock } from '@/ui/code-block'
import { CopyButton } from '@/ui/copy-button'
import { Disclosure } from '@/ui/disclosure'
import { Fact, Facts } from '@/ui/facts'
import { Icon } from '@/ui/icon'
import { Badge } from '@/ui/marks'
import { useNow } from '@/ui/use-now'
import { LongText } from '../shared/load-more'
import { useFullText, useT } from '../shared/surface'
import { REMOTE_TONES } from '../shared/tones'

/** Whether the agent's current state is unknown. */
export function isUnreachable(agent: AgentRow): boolean {
  return agent.degraded.includes('remote_unavailable')
}

export interface RemoteFactsProps {
  readonly agent: AgentRow
  readonly remote: Remote
  readonly onRetry: () => void
}

/** A remote agent: its card, the reported state of its task, and its deliveries. */
export function RemoteAgentFacts({ agent, remote, onRetry }: RemoteFactsProps) {
  const t = useT()
  const now = useNow(10_000)
  const title = [remote.name || agent.name, remote.version].filter(Boolean).join(' ')
  return (
    <section aria-label={t('received.remote', { agent: agent.name })} className="space-y-1.5">
      {isUnreachable(agent) && (
        <div
          role="alert"
          className="flex flex-wrap items-center gap-x-2 gap-y-1 rounded-md bg-warn-soft px-2 py-1"
        >
          <Icon name="warning" size={14} className="text-warn" />
          <span className="min-w-0 flex-1 basis-40">{t('team.degraded.remote_unavailable')}</span>
          <Button look="outline" onClick={onRetry}>
            {t('team.remote.retry')}
          </Button>
        </div>
      )}
      <Facts>
        <Fact name={t('team.remote.title')}>{title}</Fact>
        <Fact name={t('team.remote.url')}>
          <Address url={remote.url} />
        </Fact>
        <Fact name={t('team.remote.its_task')}>
          {remote.taskState === null ? (
            t('team.remote.no_task')
          ) : (
            <span className="flex flex-wrap items-center gap-x-1.5">
              <Badge tone={REMOTE_TONES[remote.taskState]}>{t(`team.remote.task.${remote.taskState}`)}</Badge>
              <span className="text-ink-faint">
                {remote.toldAt > 0
                  ? t('team.remote.updated', { when: formatRelative(remote.toldAt / 1000, now, t.locale) })
                  : t('team.remote.updated_unknown')}
              </span>
            </span>
          )}
        </Fact>
      </Facts>
      {(remote.message.text !== '' || remote.message.ref !== null) && (
        <div>
          <h3 className="font-medium text-ink-soft">{t('team.remote.message')}</h3>
          <LongText text={remote.message} />
        </div>
      )}
      {remote.artifacts.length > 0 && (
        <div>
          <h3 className="font-medium text-ink-soft">{t('team.remote.delivered')}</h3>
          <ul>
            {remote.artifacts.toReversed().map((artifact) => (
              <li key={`${artifact.artifactId} ${artifact.at}`}>
                <Delivered delivery={artifact} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {(remote.card.text !== '' || remote.card.ref !== null) && (
        <Disclosure title={t('team.remote.card')}>
          <RemoteCard text={remote.card} />
        </Disclosure>
      )}
    </section>
  )
}

/** The remote agent's card, which is not verified. */
function RemoteCard({ text }: { text: Remote['card'] }) {
  const t = useT()
  const full = useFullText(text)
  const card = Fields.parse(full.text)
  const skills = card.listObjects('skills')
  if (full.state === 'preview' || full.state === 'part') {
    return (
      <Button look="outline" onClick={full.load}>
        {t('tool.load_all')}
      </Button>
    )
  }
  return (
    <div className="space-y-1">
      {card.getText('description') && <p className="wrap-any">{card.getText('description')}</p>}
      {card.getObject('provider').getText('organization') && (
        <p className="wrap-any text-ink-faint">
          {t('team.remote.provider', { name: card.getObject('provider').getText('organization') })}
        </p>
      )}
      <h4 className="font-medium text-ink-soft">{t('team.remote.skills')}</h4>
      {skills.length === 0 && <p className="text-ink-faint">{t('app.none')}</p>}
      <ul className="space-y-0.5">
        {skills.map((skill) => (
          <li key={skill.getText('id') || skill.getText('name')} className="wrap-any">
            <span className="font-medium">{skill.getText('name') || skill.getText('id')}</span>{' '}
            <span className="text-ink-soft">{skill.getText('description')}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Delivered({ delivery }: { delivery: Delivery }) {
  const t = useT()
  return (
    <Disclosure title={delivery.name || t('team.remote.unnamed')}>
      <div className="space-y-1.5">
        {delivery.description && <p className="wrap-any text-ink-soft">{delivery.description}</p>}
        {delivery.parts.length === 0 && <p className="text-ink-faint">{t('team.remote.no_parts')}</p>}
        {delivery.parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names and keep their order
          <DeliveredPart key={index} part={part} />
        ))}
      </div>
    </Disclosure>
  )
}

function DeliveredPart({ part }: { part: Delivery['parts'][number] }) {
  const t = useT()
  const { media, content, url } = part
  const hasText = part.text.text !== '' || part.text.ref !== null
  return (
    <div>
      {(part.name || (!hasText && content !== null)) && (
        <p className="wrap-any flex items-center gap-1.5">
          <Icon name="file" size={12} className="text-ink-faint" />
          <span>{part.name || t('team.remote.file')}</span>
          <span className="text-ink-faint">
            {media}
            {content !== null && ` · ${formatBytes(content.size, t.locale)}`}
          </span>
        </p>
      )}
      {hasText && (media.includes('json') ? <Data text={part.text} /> : <LongText text={part.text} />)}
      {!hasText && content !== null && media.startsWith('text/') && (
        <LongText text={{ text: '', ref: content, erased: false }} />
      )}
      {url && <Address url={url} />}
    </div>
  )
}

function Data({ text }: { text: Delivery['parts'][number]['text'] }) {
  const t = useT()
  const full = useFullText(text)
  return <CodeBlock text={layOutArguments(full.text)} label={t('team.remote.data')} />
}

/** A URL as text, with a copy button and a link that sends no referrer. */
function Address({ url }: { url: string }) {
  const t = useT()
  return (
    <span className="flex items-start gap-0.5">
      <span className="wrap-any min-w-0 flex-1 font-mono text-xs leading-5">{url}</span>
      <span className="-my-1 flex">
        <CopyButton text={url} label={t('team.remote.copy_url')} done={t('app.copied')} />
        {/^https?:\/\//.test(url) && (
          <a
            href={url}
            target="_blank"
            rel="noopener noreferrer"
            aria-label={t('team.remote.open_url')}
            title={t('team.remote.open_url')}
            className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-ink-soft hover:bg-hover hover:text-ink"
          >
            <Icon name="arrowRight" className="-rotate-45" />
          </a>
        )}
      </span>
    </span>
  )
}
