import { useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { canRetryItems, computeJobStatus, type Item, type JobRow } from '@/system/selectors/job'
import type { Team } from '@/system/selectors/team'
import { RadioGroup } from '@/ui/radio-group'
import { useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { JobItem } from './job-item'

/** Estimated height of an unmeasured item, in pixels. */
const ESTIMATE = 52
const STATUSES = ['failed', 'running', 'waiting', 'paused', 'cancelling', 'completed', 'cancelled'] as const

/** The items of a job as a virtual list. */
export function JobItems(props: {
  readonly job: JobRow
  readonly items: readonly Item[]
  readonly team: Team
  readonly handlers: TeamHandlers
}) {
  const t = useT()
  const { job, items } = props
  const [filter, setFilter] = useState<(typeof STATUSES)[number] | 'all'>('all')
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const filters = STATUSES.map((value) => ({
    value,
    count: items.filter((item) => item.status === value).length,
  }))
  const visibleItems = filter === 'all' ? items : items.filter((item) => item.status === filter)
  const scroller = useRef<HTMLElement>(null)
  const list = useVirtualizer({
    count: visibleItems.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATE,
    getItemKey: (index) => visibleItems[index]?.key ?? index,
    overscan: 8,
    paddingEnd: 12,
  })
  useItemFocus(scroller, items)
  const toggle = (key: string) =>
    setOpened(
      (before) => new Set(before.has(key) ? [...before].filter((other) => other !== key) : [...before, key]),
    )
  return (
    <>
      <div className="shrink-0 px-4 py-1.5 max-sm:px-2">
        <RadioGroup
          label={t('team.items_show')}
          value={filter}
          onChange={setFilter}
          choices={[
            { value: 'all', label: `${t('team.items_all')} ${items.length}` },
            ...filters
              .filter(({ value, count }) => count > 0 || value === filter)
              .map(({ value, count }) => ({ value, label: `${t(`team.item.${value}`)} ${count}` })),
          ]}
        />
      </div>
      <section
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        tabIndex={0}
        aria-label={t('team.items')}
        className="min-h-0 flex-1 overflow-y-auto -outline-offset-2"
      >
        {visibleItems.length === 0 && (
          <p className="px-4 py-2 text-ink-faint max-sm:px-2">{t('team.items_none')}</p>
        )}
        <ul
          aria-label={t('team.items_of', { job: job.title })}
          className="relative"
          style={{ height: list.getTotalSize() }}
        >
          {list.getVirtualItems().map((row) => {
            const item = visibleItems[row.index]
            if (item === undefined) return null
            return (
              <li
                key={row.key}
                ref={list.measureElement}
                data-index={row.index}
                data-item={item.key}
                aria-posinset={row.index + 1}
                aria-setsize={visibleItems.length}
                className="absolute inset-x-0 top-0 border-b border-line px-4 py-1.5 max-sm:px-2"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <JobItem
                  item={item}
                  jobId={job.job}
                  tries={canRetryItems(computeJobStatus(job))}
                  team={props.team}
                  handlers={props.handlers}
                  open={opened.has(item.key)}
                  onToggle={() => toggle(item.key)}
                />
              </li>
            )
          })}
        </ul>
      </section>
    </>
  )
}

/** Keeps the focus at an item whose button disappears, or at the list if the item does. */
function useItemFocus(scroller: RefObject<HTMLElement | null>, items: readonly Item[]) {
  const at = useRef('')
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const onFocus = (event: FocusEvent) => {
      const item = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-item]') : null
      at.current = item?.dataset.item ?? ''
    }
    const onLeave = (event: FocusEvent) => {
      if (event.relatedTarget !== null) at.current = ''
    }
    element.addEventListener('focusin', onFocus)
    element.addEventListener('focusout', onLeave)
    return () => {
      element.removeEventListener('focusin', onFocus)
      element.removeEventListener('focusout', onLeave)
    }
  }, [scroller])
  // biome-ignore lint/correctness/useExhaustiveDependencies: run when the items change
  useEffect(() => {
    if (at.current === '' || document.activeElement !== document.body) return
    const rows = [...(scroller.current?.querySelectorAll<HTMLElement>('[data-item]') ?? [])]
    const row = rows.find((row) => row.dataset.item === at.current)
    const target = row?.querySelector<HTMLElement>('button') ?? scroller.current
    target?.focus()
  }, [items])
}
