import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { MenuProps } from './open-menu'

const OpenMenu = lazy(() => import('./open-menu'))

/** A menu below a button. Its library is loaded when the first menu is opened. */
export function Menu(props: MenuProps): ReactNode {
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
      <OpenMenu {...props} />
    </Suspense>
  )
}
