import { useEffect, useState } from 'react'
import { stripTerminalCodes } from '@/system/format/ansi'
import type { ToolInfo } from '@/system/generated/contracts'
import type { ProcessRow } from '@/system/rows/model'
import type { InventoryRead } from '@/system/stores/tool-store'
import { Button } from '@/ui/button'
import { Disclosure } from '@/ui/disclosure'
import { Badge } from '@/ui/marks'
import { useT } from '../shared/surface'
import { ServerName, ServerProblem } from '../shared/tool-server'
import { type ProcessHandlers, ProcessList } from './process-list'

const GROUPS = ['loaded', 'deferred', 'blocked', 'excluded'] as const
const MANY = 10

export interface ToolsPanelProps {
  readonly read: InventoryRead | null
  readonly processes: readonly ProcessRow[]
  readonly handlers: ProcessHandlers
  readonly onNeedTools: () => void
  readonly onReconnect: (server: string) => Promise<unknown>
}

/** Available and unavailable tools with reasons, tool servers, and background processes. */
export function ToolsPanel(props: ToolsPanelProps) {
  const t = useT()
  const { read, onNeedTools } = props
  useEffect(() => onNeedTools(), [onNeedTools])
  return (
    <>
      <ProcessList processes={props.processes} handlers={props.handlers} />
      {(read === null || read.state === 'loading') && <p className="text-ink-faint">{t('tool.loading')}</p>}
      {read?.state === 'failed' && (
        <p className="flex items-center gap-2 text-ink-soft">
          {t('tools.failed')}
          <Button look="outline" onClick={onNeedTools}>
            {t('turn.load_again')}
          </Button>
        </p>
      )}
      {read?.state === 'read' && <Inventory inventory={read.inventory} onReconnect={props.onReconnect} />}
    </>
  )
}

function Inventory(props: {
  readonly inventory: Extract<InventoryRead, { state: 'read' }>['inventory']
  readonly onReconnect: ToolsPanelProps['onReconnect']
}) {
  const t = useT()
  const { tools, servers } = props.inventory
  const [searchText, setSearchText] = useState('')
  const query = searchText.trim().toLocaleLowerCase(t.locale)
  const fits = ({ name, description = '' }: ToolInfo) =>
    `${name} ${description}`.toLocaleLowerCase(t.locale).includes(query)
  return (
    <>
      {servers.length > 0 && (
        <section>
          <h3 className="font-semibold">{t('settings.servers')}</h3>
          <ul aria-label={t('settings.servers')}>
            {servers.map((state) => (
              <li key={state.name} className="py-1">
                <div className="flex flex-wrap items-center gap-x-2">
                  <ServerName name={state.name} state={state} />
                  {state.condition === 'lost' && (
                    <Button className="ml-auto" onClick={() => void props.onReconnect(state.name)}>
                      {t('settings.reconnect')}
                    </Button>
                  )}
                </div>
                <ServerProblem state={state} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {tools.length >= MANY && (
        <input
          type="search"
          aria-label={t('tools.filter')}
          placeholder={t('tools.filter')}
          value={searchText}
          onChange={(event) => setSearchText(event.target.value)}
          className="h-7 w-full rounded-md border border-line bg-paper px-2"
        />
      )}
      {GROUPS.map((group) => {
        const toolsInGroup = tools.filter((tool) => tool.availability === group && fits(tool))
        if (toolsInGroup.length === 0) return null
        return (
          <section key={group}>
            <Disclosure
              startsOpen={group === 'loaded' || group === 'blocked'}
              title={t.count(`tools.${group}`, toolsInGroup.length)}
            >
              <ul>
                {toolsInGroup.map((tool) => (
                  <li key={tool.name} className="py-1">
                    <Tool tool={tool} />
                  </li>
                ))}
              </ul>
            </Disclosure>
          </section>
        )
      })}
    </>
  )
}

function Tool({ tool }: { tool: ToolInfo }) {
  const t = useT()
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-1.5">
        <span className="wrap-any font-medium">{tool.name}</span>
        {tool.readOnly === true && <Badge>{t('tools.read_only')}</Badge>}
        {tool.destructive === true && <Badge tone="warn">{t('tools.destructive')}</Badge>}
        {tool.concurrency === 'parallel' && <Badge>{t('tools.parallel')}</Badge>}
        {tool.interruption === 'asked' && <Badge>{t('tools.interruptible')}</Badge>}
        <span className="ml-auto text-sm text-ink-faint">
          {t.find(`tools.source.${tool.source}`) ?? stripTerminalCodes(tool.source)}
        </span>
      </p>
      {tool.reason && <p className="wrap-any text-sm text-ink-soft">{stripTerminalCodes(tool.reason)}</p>}
      {tool.description && (
        <p className="line-clamp-2 text-sm text-ink-faint" title={stripTerminalCodes(tool.description)}>
          {stripTerminalCodes(tool.description)}
        </p>
      )}
    </>
  )
}
