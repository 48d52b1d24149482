import { formatBytes, formatCount } from '@/system/format/numbers'
import type { EvidencePacked } from '@/system/generated/contracts'
import { Button } from '@/ui/button'
import { CopyButton } from '@/ui/copy-button'
import { Dialog } from '@/ui/dialog'
import { Fact, Facts } from '@/ui/facts'
import { useT } from '../shared/surface'

/** An exported evidence pack: number of facts, and the last link of the chain, for comparison. */
export function EvidenceDialog(props: {
  readonly packed: EvidencePacked
  readonly onDownload: () => void
  readonly onDone: () => void
}) {
  const t = useT()
  const { packed } = props
  return (
    <Dialog label={t('evidence.title')} onClose={props.onDone}>
      <div className="space-y-3 p-4">
        <h2 className="text-lg font-semibold">{t('evidence.title')}</h2>
        <p className="text-ink-soft">{t('evidence.body')}</p>
        <Facts>
          <Fact name={t('evidence.facts')}>
            {t('evidence.facts_through', {
              count: formatCount(packed.facts, t.locale),
              through: packed.through,
            })}
          </Fact>
          <Fact name={t('evidence.size')}>{formatBytes(packed.pack.size, t.locale)}</Fact>
          <Fact name={t('evidence.link')}>
            <span className="flex items-start gap-1">
              <span className="min-w-0 flex-1 font-mono text-xs leading-5 break-all">{packed.link}</span>
              <span className="-my-1">
                <CopyButton text={packed.link} label={t('evidence.copy_link')} done={t('app.copied')} />
              </span>
            </span>
          </Fact>
        </Facts>
        <div className="flex justify-end gap-2">
          <Button look="outline" onClick={props.onDone}>
            {t('app.close')}
          </Button>
          <Button look="solid" icon="download" onClick={props.onDownload}>
            {t('evidence.download')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
