import type { BlobRef } from '@/system/generated/contracts'
import { Image } from '@/ui/image'
import { useImage, useT } from './surface'

/** An image of a row. Its space is reserved while it loads, so that the layout stays stable. */
export function RowImage(props: {
  readonly content: BlobRef
  readonly alt: string
  readonly small?: boolean
}) {
  const t = useT()
  const image = useImage(props.content)
  const sizeClass = props.small ? 'size-6' : 'h-60'
  if (image.state === 'ready') {
    return (
      <Image
        key={image.address}
        address={image.address}
        alt={props.alt}
        broken={t('image.failed')}
        className={props.small ? 'size-6 object-cover' : 'max-h-[60vh]'}
      />
    )
  }
  if (props.small) return <span aria-hidden="true" className={`${sizeClass} rounded-md bg-sunken`} />
  const keys = { loading: 'image.loading', failed: 'image.failed', unsupported: 'image.unsupported' } as const
  return (
    <p className={`${sizeClass} flex items-center justify-center rounded-md bg-sunken px-3 text-ink-faint`}>
      {t(keys[image.state])}
    </p>
  )
}
