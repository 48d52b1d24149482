import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { useT } from '../shared/surface'

/** Confirms opening a home folder, or another folder with more than one project. */
export function BroadFolderDialog(props: {
  readonly path: string
  readonly onOpen: () => void
  readonly onClose: () => void
}) {
  const t = useT()
  return (
    <Dialog label={t('broad.title')} onClose={props.onClose}>
      <div className="space-y-3 p-4">
        <h2 className="text-lg font-semibold">{t('broad.title')}</h2>
        <p className="wrap-any font-mono">{props.path}</p>
        <p className="wrap-any text-ink-soft">{t('broad.warning')}</p>
        <p className="wrap-any text-ink-soft">{t('broad.hidden')}</p>
        <div className="flex justify-end gap-2">
          <Button look="outline" onClick={props.onClose}>
            {t('app.cancel')}
          </Button>
          <Button look="danger" onClick={props.onOpen}>
            {t('broad.open')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
