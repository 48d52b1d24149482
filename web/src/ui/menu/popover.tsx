import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { PopoverProps } from './open-popover'

const OpenPopover = lazy(() => import('./open-popover'))

/** A panel below a button. Its library is loaded when the first panel is opened. */
export function Popover(props: PopoverProps): ReactNode {
  const [isRequested, setRequested] = useState(false)
  if (!isRequested) {
    return (
      <span className="inline-flex" onClickCapture={() => setRequested(true)}>
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
