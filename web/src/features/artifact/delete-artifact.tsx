import { useState } from 'react'
import type { ArtifactRow } from '@/system/rows/model'
import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { useT } from '../shared/surface'

/** Confirms the deletion of an artifact. Its versions stay on record. */
export function DeleteArtifact(props: {
  readonly artifact: ArtifactRow
  readonly onDelete: (file: boolean) => void
  readonly onDone: () => void
}) {
  const t = useT()
  const { artifact } = props
  const [file, setFile] = useState(false)
  return (
    <Dialog label={t('artifact.delete_title')} onClose={props.onDone}>
      <div className="space-y-3 p-4">
        <h2 className="text-lg font-semibold">{t('artifact.delete_title')}</h2>
        <p className="wrap-any text-ink-soft">{t('artifact.delete_body', { title: artifact.title })}</p>
        {artifact.path !== '' && (
          <label className="flex items-center gap-2">
            <input type="checkbox" checked={file} onChange={(event) => setFile(event.target.checked)} />
            <span className="wrap-any">{t('artifact.delete_file', { path: artifact.path })}</span>
          </label>
        )}
        <div className="flex justify-end gap-2">
          <Button look="outline" onClick={props.onDone}>
            {t('app.cancel')}
          </Button>
          <Button look="danger" onClick={() => props.onDelete(file)}>
            {t('artifact.delete')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
