import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { memo, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { Translate } from '@/system/i18n/translate'
import type { Item } from '@/system/selectors/conversation'
import { Button, IconButton } from '@/ui/button'
import { OpenedRows } from '../shared/opened-rows'
import { useT } from '../shared/surface'
import type { ConversationHandlers } from './item-view'
import { ItemView } from './item-view'
import { labelSpeaker } from './turn-input'

/** Estimated height of an unmeasured item, in pixels. */
const ESTIMATES: Record<Item['kind'], number> = {
  input: 84,
  part: 34,
  summary: 36,
  answer: 160,
  outcome: 84,
  working: 34,
  artifacts: 48,
  unloaded: 72,
  sent: 84,
}

const AT_END = 48
const OLDER_AT = 4

/** The accessible label of an item: its speaker, if any. */
function labelItem(t: Translate, item: Item, parentName: string): string | undefined {
  if (item.kind === 'input') return labelSpeaker(t, item.turn.source, parentName)
  if (item.kind === 'sent') return t('turn.you')
  if (item.kind === 'answer') return t('turn.answer')
  if (item.kind !== 'part' || item.part.kind !== 'assistant_text') return undefined
  return t(item.part.commentary ? 'turn.commentary' : 'turn.answer')
}

type List = Virtualizer<HTMLDivElement, Element>

/**
 * Keeps the end in view while the person is at the end, also if the list shrinks, and when they send
 * input. Only their own scrolling releases it.
 */
function useBottomPin(scroller: RefObject<HTMLDivElement | null>, list: List, items: readonly Item[]) {
  const stays = useRef(true)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const onScroll = () => {
      stays.current = list.isAtEnd(AT_END)
    }
    const observer = new ResizeObserver(() => {
      if (stays.current) list.scrollToEnd()
    })
    element.addEventListener('scroll', onScroll, { passive: true })
    observer.observe(element)
    list.scrollToEnd()
    return () => {
      element.removeEventListener('scroll', onScroll)
      observer.disconnect()
    }
  }, [scroller, list])

  const last = items.at(-1)
  const sent = last?.kind === 'sent' ? last.key : null
  useLayoutEffect(() => {
    if (sent !== null) list.scrollToEnd()
  }, [sent, list])
}

/** Keeps the head of an unfolded item in view, however long it is. */
function useUnfoldedPosition(list: List, items: readonly Item[], handlers: ConversationHandlers) {
  const unfolded = useRef<string | null>(null)
  useLayoutEffect(() => {
    const turnId = unfolded.current
    if (turnId === null) return
    const at = items.findIndex((item) => item.kind === 'summary' && item.turn.turnId === turnId && item.open)
    if (at < 0) return
    unfolded.current = null
    list.scrollToIndex(at, { align: 'auto' })
  }, [list, items])
  return useMemo<ConversationHandlers>(
    () => ({
      ...handlers,
      onToggleTurn: (turnId) => {
        unfolded.current = turnId
        handlers.onToggleTurn(turnId)
      },
    }),
    [handlers],
  )
}

export interface ConversationProps {
  readonly items: readonly Item[]
  readonly handlers: ConversationHandlers
  readonly waiting: ReadonlySet<string>
  readonly failedParts: ReadonlySet<string>
  readonly loadingOlder: boolean
  readonly reachedStart: boolean
  readonly mayHaveOlder: boolean
  readonly onLoadOlder: () => void
  /** The name of the agent that gives this agent its work; absent if a person does. */
  readonly parentName?: string
}

/**
 * The conversation as a virtual list. It stays at its end, or at its position when older turns
 * load.
 */
export const Conversation = memo((props: ConversationProps) => (
  <OpenedRows>
    <ConversationList {...props} />
  </OpenedRows>
))

function ConversationList(props: ConversationProps) {
  const t = useT()
  const { items, reachedStart, loadingOlder, onLoadOlder, parentName = '' } = props
  const scroller = useRef<HTMLDivElement>(null)
  const [atEnd, setAtEnd] = useState(true)
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ESTIMATES[items[index]?.kind ?? 'part'],
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 8,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: AT_END,
    paddingStart: 44,
    paddingEnd: 16,
    onChange: (instance) => setAtEnd(instance.isAtEnd(AT_END)),
  })

  useBottomPin(scroller, list, items)
  const handlers = useUnfoldedPosition(list, items, props.handlers)

  const visibleItems = list.getVirtualItems()
  const first = visibleItems[0]?.index ?? 0
  const mayLoad = props.mayHaveOlder && !reachedStart && !loadingOlder
  // Scrolling up near the start loads older turns; a list that settles does not.
  const scrolledUp = list.scrollDirection === 'backward' && first < OLDER_AT
  // A list without overflow cannot be scrolled, so fill it with older turns.
  const hasRoom = list.getTotalSize() < (list.scrollRect?.height ?? 0)
  useEffect(() => {
    if (mayLoad && (scrolledUp || hasRoom)) onLoadOlder()
  }, [mayLoad, scrolledUp, hasRoom, onLoadOlder])

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
        tabIndex={0}
        role="feed"
        aria-label={t('app.conversation')}
        aria-busy={loadingOlder}
        className="h-full overflow-y-auto -outline-offset-2 overscroll-contain [overflow-anchor:none]"
      >
        <div className="relative mx-auto w-full max-w-[820px]" style={{ height: list.getTotalSize() }}>
          <div className="absolute inset-x-0 top-0 flex h-11 items-center justify-center text-sm text-ink-faint">
            {reachedStart && t('turn.start')}
            {loadingOlder && t('turn.loading_older')}
            {mayLoad && <Button onClick={onLoadOlder}>{t('turn.older')}</Button>}
          </div>
          {visibleItems.map((row) => {
            const item = items[row.index]
            if (item === undefined) return null
            return (
              <article
                key={row.key}
                ref={list.measureElement}
                data-index={row.index}
                data-kind={item.kind}
                aria-label={labelItem(t, item, parentName)}
                aria-posinset={row.index + 1}
                aria-setsize={reachedStart ? items.length : -1}
                className={`absolute inset-x-0 top-0 px-5 max-sm:px-3 ${item.kind === 'input' && row.index > 0 ? 'pt-3 pb-1.5' : 'py-1'}`}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <ItemView
                  item={item}
                  handlers={handlers}
                  waiting={props.waiting}
                  failedParts={props.failedParts}
                  parentName={parentName}
                />
              </article>
            )
          })}
        </div>
      </div>
      {!atEnd && items.length > 0 && (
        <IconButton
          icon="arrowDown"
          label={t('turn.to_newest')}
          onClick={() => list.scrollToEnd()}
          className="absolute right-5 bottom-3 border border-line-strong bg-surface shadow-md"
        />
      )}
    </div>
  )
}
