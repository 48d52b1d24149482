import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { PopoverProps } from './open-popover'

const OpenPopover = lazy(() => import('./open-popover'))

/** A panel under a button. What it is made of is loaded when one is opened for the first time. */
export function Popover(props: PopoverProps): ReactNode {
  const [wanted, setWanted] = useState(false)
  if (!wanted) {
    return (
      <span className="inline-flex" onClickCapture={() => setWanted(true)}>
        {props.trigger}
      </span>
    )
  }
  return (
    <Suspense fallback={props.trigger}>
      <OpenPopover {...props} />
    </Suspense>
  )
}
