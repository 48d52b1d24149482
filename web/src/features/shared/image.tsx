import type { BlobRef } from '@/system/generated/contracts'
import { Picture } from '@/ui/picture'
import { usePicture, useT } from './surface'

/** An image of a row. Its space is reserved while it loads, so that the layout stays stable. */
export function Image(props: { readonly content: BlobRef; readonly alt: string; readonly small?: boolean }) {
  const t = useT()
  const picture = usePicture(props.content)
  const room = props.small ? 'size-6' : 'h-60'
  if (picture.state === 'ready') {
    return (
      <Picture
        key={picture.address}
        address={picture.address}
        alt={props.alt}
        broken={t('image.failed')}
        className={props.small ? 'size-6 object-cover' : 'max-h-[60vh]'}
      />
    )
  }
  if (props.small) return <span aria-hidden="true" className={`${room} rounded-md bg-sunken`} />
  const keys = { loading: 'image.loading', failed: 'image.failed', unsupported: 'image.unsupported' } as const
  return (
    <p className={`${room} flex items-center justify-center rounded-md bg-sunken px-3 text-ink-faint`}>
      {t(keys[picture.state])}
    </p>
  )
}
