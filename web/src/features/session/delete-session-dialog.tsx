import type { SessionCard } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { useT } from '../shared/surface'

/** Confirms the deletion of a session, which cannot be undone. */
export function DeleteSessionDialog(props: {
  readonly session: SessionCard
  readonly onDelete: () => void
  readonly onClose: () => void
}) {
  const t = useT()
  return (
    <Dialog label={t('sessions.delete_title')} onClose={props.onClose}>
      <div className="space-y-3 p-4">
        <h2 className="text-lg font-semibold">{t('sessions.delete_title')}</h2>
        <p className="wrap-any text-ink-soft">
          {t('sessions.delete_body', { title: props.session.title || t('sessions.untitled') })}
        </p>
        <div className="flex justify-end gap-2">
          <Button look="outline" onClick={props.onClose}>
            {t('app.cancel')}
          </Button>
          <Button look="danger" onClick={props.onDelete}>
            {t('sessions.delete')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
