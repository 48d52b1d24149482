import { useState } from 'react'
import { markInvisible } from '@/system/format/exact-text'
import type { TrustRead } from '@/system/generated/contracts'
import { Button } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { RequestedPermissions } from '../shared/requested-permissions'
import { useT } from '../shared/surface'

/** The permissions that a folder's files request. */
export function TrustBanner(props: {
  readonly trust: TrustRead
  /** Whether it starts as one line. Trust can be granted only when it is open. */
  readonly folded?: boolean
  readonly onTrust: () => Promise<unknown>
  readonly onNotNow: () => void
}) {
  const t = useT()
  const { trust } = props
  const [open, setOpen] = useState(props.folded !== true)
  const [busy, setBusy] = useState(false)
  const trustFolder = async () => {
    setBusy(true)
    await props.onTrust()
    setBusy(false)
  }
  const changed = trust.state === 'changed'
  return (
    <section
      aria-label={t('trust.region')}
      className="mx-auto mt-2 w-[calc(100%-40px)] max-w-[780px] shrink-0 rounded-lg border border-line-strong bg-surface px-3.5 py-2.5 max-sm:w-[calc(100%-24px)]"
    >
      <div className="flex items-start gap-2.5">
        <Icon name="shield" className="mt-0.5 text-warn" />
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold">{t(changed ? 'trust.changed' : 'trust.title')}</h2>
          <p className="wrap-any text-sm text-ink-soft">
            <span className="font-mono">{markInvisible(trust.folder)}</span>{' '}
            <span className="tabular whitespace-nowrap">
              {t.count('trust.count', trust.widenings.length)}
            </span>
          </p>
        </div>
        {!open && (
          <Button className="-my-1" onClick={() => setOpen(true)}>
            {t('trust.review')}
          </Button>
        )}
      </div>
      {open && (
        <div className="space-y-1 pt-1.5">
          <RequestedPermissions widenings={trust.widenings} />
          <p className="text-sm text-ink-faint">{t('trust.until_then')}</p>
        </div>
      )}
      {open && (
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={props.onNotNow}>{t('trust.not_now')}</Button>
          <Button look="outline" disabled={busy} onClick={() => void trustFolder()}>
            {t('trust.trust')}
          </Button>
        </div>
      )}
    </section>
  )
}
