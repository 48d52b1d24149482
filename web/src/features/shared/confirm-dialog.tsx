import { Button } from '@/ui/button'
import { Dialog } from '@/ui/dialog'
import { useT } from './surface'

export function ConfirmDialog(props: {
  readonly title: string
  readonly body: string
  readonly action: string
  readonly onDo: () => void
  readonly onDone: () => void
}) {
  const t = useT()
  return (
    <Dialog label={props.title} onClose={props.onDone}>
      <div className="space-y-3 p-4">
        <h2 className="wrap-any text-lg font-semibold">{props.title}</h2>
        <p className="text-ink-soft">{props.body}</p>
        <div className="flex justify-end gap-2">
          <Button look="outline" onClick={props.onDone}>
            {t('app.cancel')}
          </Button>
          <Button
            look="danger"
            onClick={() => {
              props.onDo()
              props.onDone()
            }}
          >
            {props.action}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
