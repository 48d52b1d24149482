import { type DragEvent, type RefObject, useEffect, useRef, useState } from 'react'
import type { JobItem } from '@/system/generated/contracts'
import type { TaskRow } from '@/system/rows/model'
import { isItem, isJob } from '@/system/selectors/job'
import type { Team } from '@/system/selectors/team'
import { Button } from '@/ui/button'
import { JobCard } from '../job/job-card'
import { JobView } from '../job/job-view'
import { useReadOnly, useT } from '../shared/surface'
import type { TeamHandlers } from '../shared/team-handlers'
import { NewTaskDialog } from '../task/new-task-dialog'
import { TaskCard } from '../task/task-card'

type Status = TaskRow['status']

const COLUMNS: readonly Status[] = ['open', 'claimed', 'running', 'blocked', 'reviewing', 'done']
const PRIORITIES: Readonly<Record<TaskRow['priority'], number>> = { high: 0, normal: 1, low: 2 }
const KIND = 'application/x-callboard-task'
const NONE: readonly JobItem[] = []

export interface BoardProps {
  readonly team: Team
  /** The task of the job that is shown instead of the board; absent for the board. */
  readonly job?: string
  /** Items of that job from a query; absent if the rows hold all items. */
  readonly items?: readonly JobItem[]
  /** Whether that job takes the focus, because the person opened it. */
  readonly takesFocus?: boolean
  readonly handlers: TeamHandlers
}

/** Keeps the focus on a card that moves to another column. */
function useCardFocus(tasks: readonly TaskRow[]) {
  const board = useRef<HTMLDivElement>(null)
  const at = useRef<{ readonly key: string; readonly column: string } | null>(null)
  useEffect(() => {
    const element = board.current
    if (element === null) return
    const findCard = (target: EventTarget | null) =>
      target instanceof Element ? target.closest<HTMLElement>('[data-task]') : null
    const onFocus = (event: FocusEvent) => {
      const card = findCard(event.target)
      at.current = card === null ? null : { key: card.dataset.task ?? '', column: card.dataset.column ?? '' }
    }
    element.addEventListener('focusin', onFocus)
    return () => element.removeEventListener('focusin', onFocus)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: run when the tasks change
  useEffect(() => {
    if (at.current === null || document.activeElement !== document.body) return
    const cards = [...(board.current?.querySelectorAll<HTMLElement>('[data-task]') ?? [])]
    const card = cards.find((card) => card.dataset.task === at.current?.key)
    if (card === undefined || card.dataset.column === at.current.column) return
    card.querySelector<HTMLElement>('[aria-haspopup]')?.focus()
  }, [tasks])
  return board
}

/** Focuses the card of a job when the person returns from it. */
function useReturnFocus(board: RefObject<HTMLDivElement | null>, job: string) {
  const previousJob = useRef('')
  useEffect(() => {
    const card = [...(board.current?.querySelectorAll<HTMLElement>('[data-task]') ?? [])].find(
      (card) => card.dataset.task === previousJob.current,
    )
    if (job === '') card?.querySelector('button')?.focus()
    previousJob.current = job
  }, [board, job])
}

/** The board: task cards, or one job. */
export function Board({ team, job = '', items = NONE, takesFocus = true, handlers }: BoardProps) {
  const board = useCardFocus(team.tasks)
  const openJob = team.tasks.filter(isJob).find((task) => task.key === job)
  useReturnFocus(board, openJob?.key ?? '')
  return (
    <div ref={board} className="flex min-h-0 flex-1 flex-col">
      {openJob === undefined ? (
        <TaskColumns team={team} handlers={handlers} />
      ) : (
        <JobView
          key={openJob.key}
          job={openJob}
          read={items}
          takesFocus={takesFocus}
          team={team}
          handlers={handlers}
        />
      )}
    </div>
  )
}

/** Tasks by column. A dropped card sends a command and moves when its fact arrives. */
function TaskColumns({ team, handlers }: Pick<BoardProps, 'team' | 'handlers'>) {
  const t = useT()
  const [dropTarget, setDropTarget] = useState<Status | null>(null)
  const [isCreating, setCreating] = useState(false)
  const forReading = useReadOnly()
  const cards = team.tasks.filter((task) => !isItem(task))
  const cancelled = cards.some((task) => task.status === 'cancelled')
  const columns = cancelled ? [...COLUMNS, 'cancelled' as const] : COLUMNS
  const drop = (status: Status) => (event: DragEvent) => {
    setDropTarget(null)
    const taskId = event.dataTransfer.getData(KIND)
    const task = team.tasks.find((task) => task.key === taskId)
    if (task !== undefined && task.status !== status) handlers.onChangeTask(taskId, { status })
  }
  return (
    <>
      {!forReading && (
        <div className="flex h-9 shrink-0 items-center gap-2 px-4">
          <Button look="outline" icon="plus" onClick={() => setCreating(true)}>
            {t('team.new_task')}
          </Button>
          <Button look="outline" icon="plus" onClick={handlers.onAskJob}>
            {t('team.new_job')}
          </Button>
        </div>
      )}
      {cards.length === 0 && <p className="px-4 py-2 text-ink-faint">{t('team.board_empty')}</p>}
      {isCreating && (
        <NewTaskDialog
          agents={team.agents}
          tasks={cards}
          onCreate={handlers.onNewTask}
          onDone={() => setCreating(false)}
        />
      )}
      {cards.length > 0 && (
        <section
          aria-label={t('team.view.board')}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
          tabIndex={0}
          className="flex min-h-0 flex-1 gap-2 overflow-x-auto px-4 pt-2 pb-3 -outline-offset-2"
        >
          {columns.map((status) => {
            const tasks = cards
              .filter((task) => task.status === status)
              .toSorted((a, b) => PRIORITIES[a.priority] - PRIORITIES[b.priority] || a.order - b.order)
            return (
              // biome-ignore lint/a11y/useSemanticElements: a fieldset contains fields, not cards
              <div
                key={status}
                role="group"
                aria-label={t(`team.task.${status}`)}
                onDragOver={(event) => {
                  if (!event.dataTransfer.types.includes(KIND)) return
                  event.preventDefault()
                  if (dropTarget !== status) setDropTarget(status)
                }}
                onDragLeave={() => setDropTarget(null)}
                onDrop={drop(status)}
                className={`flex min-h-0 shrink-0 flex-col rounded-lg ${tasks.length === 0 ? 'w-[92px] max-sm:hidden' : 'w-[188px] grow'} ${dropTarget === status ? 'bg-accent-soft' : 'bg-sunken'}`}
              >
                <h3 className="flex h-8 items-center gap-2 px-2.5 text-sm font-medium text-ink-soft">
                  {t(`team.task.${status}`)}
                  <span className="tabular font-normal text-ink-faint">{tasks.length}</span>
                </h3>
                <ul className="min-h-0 flex-1 space-y-1.5 overflow-y-auto px-1.5 pb-1.5">
                  {tasks.map((task) =>
                    isJob(task) ? (
                      <JobCard key={task.key} job={task} handlers={handlers} />
                    ) : (
                      <TaskCard
                        key={task.key}
                        task={task}
                        team={team}
                        columns={COLUMNS}
                        handlers={handlers}
                        onDrag={(event) => event.dataTransfer.setData(KIND, task.key)}
                      />
                    ),
                  )}
                </ul>
              </div>
            )
          })}
        </section>
      )}
    </>
  )
}
