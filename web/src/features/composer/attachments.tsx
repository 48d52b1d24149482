import type { ChangeEvent } from 'react'
import { formatBytes } from '@/system/format/numbers'
import type { RoutePreview } from '@/system/generated/contracts'
import type { AttachedFile } from '@/system/stores/attachment-store'
import type { SendMode } from '@/system/stores/outbox'
import { IconButton } from '@/ui/button'
import { Icon } from '@/ui/icon'
import { Image } from '@/ui/image'
import { useT } from '../shared/surface'

export interface AttachmentProps {
  readonly list: readonly AttachedFile[]
  readonly onFiles: (files: readonly File[]) => void
  readonly onRemove: (id: string) => void
  /**
   * The model that receives the input, and whether it accepts images; null until the server
   * answers.
   */
  readonly route?: RoutePreview | null
}

/**
 * The model that will not receive the attached images; null if it receives them, or if that is
 * unknown.
 */
export function findModelWithoutImages(
  { list, route }: AttachmentProps,
  sendMode: SendMode | null,
): string | null {
  if (!route || !list.some(isImage)) return null
  const steers = sendMode === 'steer' && (route.runningModel ?? '') !== ''
  const takes = steers ? route.runningImages === true : route.images
  return takes ? null : steers ? (route.runningModel ?? '') : route.model
}

function isImage({ media }: AttachedFile): boolean {
  return media.startsWith('image/')
}

/** Attached files, each with its progress or its refusal. */
export function AttachedList({
  attaching,
  sendMode,
}: {
  attaching: AttachmentProps
  sendMode: SendMode | null
}) {
  const t = useT()
  const lacksImages = findModelWithoutImages(attaching, sendMode) !== null
  if (attaching.list.length === 0) return null
  return (
    <ul aria-label={t('composer.attached')} className="flex flex-wrap gap-1.5 px-2.5 pt-2">
      {attaching.list.map((file) => (
        <li
          key={file.id}
          className={`relative flex min-h-9 max-w-72 items-center gap-2 overflow-hidden rounded-md border bg-sunken pl-2 ${file.state === 'failed' ? 'border-bad/50' : lacksImages && isImage(file) ? 'border-warn/60' : 'border-line'}`}
        >
          <FilePreview file={file} />
          <span className="min-w-0">
            <span className="block truncate" title={file.name}>
              {file.name}
            </span>
            <span className="tabular block text-xs text-ink-faint">
              <FileStatus file={file} />
            </span>
          </span>
          <IconButton
            icon="close"
            label={t('composer.remove_file', { name: file.name })}
            onClick={() => attaching.onRemove(file.id)}
          />
          {file.state === 'sending' && (
            <progress
              aria-label={t('composer.sending_file', { name: file.name })}
              value={file.share}
              max={1}
              className="absolute inset-x-0 bottom-0 h-0.5 w-full appearance-none [&::-webkit-progress-bar]:bg-transparent [&::-webkit-progress-value]:bg-accent"
            />
          )}
        </li>
      ))}
    </ul>
  )
}

function FilePreview({ file }: { file: AttachedFile }) {
  const t = useT()
  if (file.preview !== '') {
    return (
      <Image
        address={file.preview}
        alt=""
        broken={t('image.failed')}
        className="size-7 shrink-0 object-cover"
      />
    )
  }
  return <Icon name={file.state === 'failed' ? 'warning' : 'file'} size={14} className="text-ink-faint" />
}

function FileStatus({ file }: { file: AttachedFile }) {
  const t = useT()
  const { problem } = file
  if (problem !== null) {
    const text = t.find(`code.${problem.code}`) ?? problem.message
    return (
      <span role="alert" className="wrap-any text-bad" title={problem.message}>
        {text}
        {problem.hint && ` · ${problem.hint}`}
      </span>
    )
  }
  return formatBytes(file.size, t.locale)
}

/** The browser's file picker under a label that looks like a button. */
export function FilePicker({ attaching }: { attaching: AttachmentProps }) {
  const t = useT()
  const onChange = (event: ChangeEvent<HTMLInputElement>) => {
    attaching.onFiles([...(event.target.files ?? [])])
    // Allow picking the same file again after its removal.
    event.target.value = ''
  }
  return (
    <label
      title={t('composer.attach')}
      className="relative inline-flex size-7 shrink-0 cursor-pointer items-center justify-center rounded-md text-ink-soft hover:bg-hover hover:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
    >
      <Icon name="clip" size={14} />
      <input
        type="file"
        multiple
        aria-label={t('composer.attach')}
        onChange={onChange}
        className="absolute inset-0 size-7 cursor-pointer opacity-0"
      />
    </label>
  )
}
