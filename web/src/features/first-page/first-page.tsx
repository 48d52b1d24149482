import type { ReactNode } from 'react'
import type { DemoOffer } from '@/system/api/client'
import { formatAgo } from '@/system/format/numbers'
import type { Key } from '@/system/i18n/translate'
import type { SessionCard } from '@/system/rows/model'
import { Icon, type IconName } from '@/ui/icon'
import { useNow } from '@/ui/use-now'
import { useT } from '../shared/surface'

export interface FirstPageProps {
  readonly subtitle: string
  /** The model setup. */
  readonly modelsOffer: ReactNode
  readonly sample: boolean
  readonly demos: readonly DemoOffer[]
  readonly sessions: readonly SessionCard[]
  /** The import offer for past sessions. */
  readonly importOffer: ReactNode
  readonly others: boolean
  readonly onPrompt: (text: string) => void
  readonly onDemo: (name: string) => void
  readonly onOpen: (sessionId: string) => void
  readonly composer: ReactNode
}

const PAST = 5

/** The page without a session: the composer and three ways to start. */
export function FirstPage(props: FirstPageProps) {
  const t = useT()
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto w-full max-w-[820px] space-y-5 px-5 pt-[12vh] pb-10 max-sm:px-3 max-sm:pt-8">
        <header>
          <h1 className="text-xl font-semibold">{t('first.title')}</h1>
          <p className="wrap-any text-lg text-ink-soft">{props.subtitle}</p>
        </header>
        {props.composer}
        <div className="grid grid-cols-1 gap-x-6 gap-y-5 pt-3 md:grid-cols-[1fr_1fr_1.25fr] md:grid-rows-[auto_1fr]">
          <Offer icon="thought" title={t('first.models')} className="md:row-span-2">
            {props.modelsOffer}
          </Offer>
          <Sample sample={props.sample} onPrompt={props.onPrompt} />
          {/* Before the demos: on a narrow page these would push the person's own work down. */}
          <Past
            sessions={props.sessions}
            onOpen={props.onOpen}
            offer={props.importOffer}
            others={props.others}
          />
          {props.demos.length > 0 && <Demos demos={props.demos} onDemo={props.onDemo} />}
        </div>
      </div>
    </div>
  )
}

interface OfferProps {
  readonly icon: IconName
  readonly title: string
  readonly className?: string
  readonly children: ReactNode
}

function Offer({ icon, title, className = '', children }: OfferProps) {
  return (
    <section className={`min-w-0 border-t border-line pt-2.5 ${className}`}>
      <h2 className="flex items-center gap-2 pb-1 font-semibold">
        <Icon name={icon} size={14} className="text-ink-faint" />
        {title}
      </h2>
      {children}
    </section>
  )
}

/** Texts of known demos. A demo of a newer server has its server's title. */
const TITLES: Readonly<Record<string, Key>> = {
  solo_run: 'first.demo.solo_run',
  coordinator_team: 'first.demo.coordinator_team',
  parallel_workers: 'first.demo.parallel_workers',
  specialist_handoff: 'first.demo.specialist_handoff',
  review_team: 'first.demo.review_team',
  human_agent_board: 'first.demo.human_agent_board',
  background_teammate: 'first.demo.background_teammate',
  remote_teammate: 'first.demo.remote_teammate',
}

function Demos({ demos, onDemo }: { demos: readonly DemoOffer[]; onDemo: (name: string) => void }) {
  const t = useT()
  return (
    <Offer icon="play" title={t('first.demos')} className="md:col-start-2">
      <p className="pb-1 text-ink-soft">{t('first.demos_help')}</p>
      <ul>
        {demos.map(({ name, title }) => {
          const key = TITLES[name]
          return (
            <li key={name}>
              <button
                type="button"
                onClick={() => onDemo(name)}
                className="-mx-2 block min-h-7 w-[calc(100%+16px)] rounded-md px-2 py-1 text-left text-accent hover:bg-hover"
              >
                {key === undefined ? title : t(key)}
              </button>
            </li>
          )
        })}
      </ul>
    </Offer>
  )
}

const IN_THE_SAMPLE = ['first.sample_1', 'first.sample_2', 'first.sample_3'] as const
const SUGGESTIONS = ['first.suggestions_1', 'first.suggestions_2', 'first.suggestions_3'] as const

function Sample({ sample, onPrompt }: { sample: boolean; onPrompt: (text: string) => void }) {
  const t = useT()
  return (
    <Offer icon="play" title={t(sample ? 'first.sample' : 'first.suggestions')}>
      <p className="pb-1 text-ink-soft">{t(sample ? 'first.sample_here' : 'first.suggestions_help')}</p>
      <ul>
        {(sample ? IN_THE_SAMPLE : SUGGESTIONS).map((key) => (
          <li key={key}>
            <button
              type="button"
              onClick={() => onPrompt(t(key))}
              className="-mx-2 block min-h-7 w-[calc(100%+16px)] rounded-md px-2 py-1 text-left text-accent hover:bg-hover"
            >
              {t(key)}
            </button>
          </li>
        ))}
      </ul>
    </Offer>
  )
}

function Past({
  sessions,
  onOpen,
  offer,
  others,
}: {
  sessions: readonly SessionCard[]
  onOpen: (sessionId: string) => void
  offer: ReactNode
  others: boolean
}) {
  const t = useT()
  const now = useNow(30_000)
  const newest = [...sessions]
    .filter((session) => !session.archived)
    .sort((a, b) => b.order - a.order)
    .slice(0, PAST)
  return (
    <Offer icon="clock" title={t('first.past')} className="md:row-span-2">
      {newest.length === 0 && !others && <p className="text-ink-faint">{t('first.past_none')}</p>}
      <ul>
        {newest.map((session) => (
          <li key={session.key}>
            <button
              type="button"
              onClick={() => onOpen(session.sessionId)}
              className="-mx-2 flex h-7 w-[calc(100%+16px)] items-center gap-2 rounded-md px-2 text-left hover:bg-hover"
            >
              <span className="min-w-0 flex-1 truncate">{session.title || t('sessions.untitled')}</span>
              <span className="tabular text-sm text-ink-faint">
                {session.updatedAt > 0 && formatAgo(session.updatedAt / 1000, now, t.locale)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <div className={newest.length > 0 ? 'pt-2' : ''}>{offer}</div>
    </Offer>
  )
}
