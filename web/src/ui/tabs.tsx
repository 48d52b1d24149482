import { Tabs as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useState } from 'react'

export interface Tab {
  readonly id: string
  readonly label: string
  readonly content: ReactNode
}

/** A request to open a tab. Each new object is a new request. */
export interface TabRequest {
  readonly id: string
}

/** Tabs with one visible panel. The selected tab is local state. */
export function Tabs(props: {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly request?: TabRequest | null
}) {
  const { label, tabs, request = null } = props
  const [chosen, setChosen] = useState(request?.id ?? '')
  useEffect(() => {
    if (request !== null) setChosen(request.id)
  }, [request])
  // If the chosen tab is gone, select the first.
  const selected = tabs.some((tab) => tab.id === chosen) ? chosen : (tabs[0]?.id ?? '')
  return (
    <Radix.Root value={selected} onValueChange={setChosen} className="flex min-h-0 flex-1 flex-col">
      <Radix.List aria-label={label} className="flex shrink-0 flex-wrap gap-x-2.5 border-b border-line px-4">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.id}
            value={tab.id}
            className="-mb-px h-8 border-b-2 border-transparent font-medium whitespace-nowrap text-ink-soft hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content
          key={tab.id}
          value={tab.id}
          className="min-h-0 flex-1 space-y-3 overflow-y-auto px-4 pt-3 pb-6"
        >
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
