import {
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeProps,
  Panel,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react'
import { useEffect, useMemo } from 'react'
import type { Translate } from '@/system/i18n/translate'
import type { AgentRow } from '@/system/rows/model'
import type { Line, Team } from '@/system/selectors/team'
import { IconButton } from '@/ui/button'
import { StateDot, StateText } from '../shared/agent-marks'
import { useT } from '../shared/surface'
import { layOutAgents, NODE } from './graph-layout'
import { describeLine } from './line-text'
import '@xyflow/react/dist/base.css'
import './graph.css'

interface CanvasProps {
  readonly team: Team
  readonly lines: readonly Line[]
  readonly openAgentId: string
  readonly onOpenAgent: (agentId: string) => void
}

type AgentNode = Node<
  { readonly agent: AgentRow; readonly lead: boolean; readonly isOpen: boolean; readonly onOpen: () => void },
  'agent'
>

const KINDS = { agent: AgentBox }
const FIT = { padding: 0.16, maxZoom: 1 } as const

// Disable selection and movement by keys: agents are buttons with labels of their own.
const NO_KEYBOARD_LABELS = {
  'node.a11yDescription.default': '',
  'node.a11yDescription.keyboardDisabled': '',
  'edge.a11yDescription.default': '',
} as const

/** The drawn graph. It is laid out again only if agents are added or removed. */
export default function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <AgentGraph {...props} />
    </ReactFlowProvider>
  )
}

function AgentGraph({ team, lines, openAgentId, onOpenAgent }: CanvasProps) {
  const t = useT()
  const shape = [
    ...team.agents.map((agent) => agent.key),
    ...lines.filter((line) => line.edge.edgeType !== 'wait').map((line) => line.edge.key),
  ].join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: positions depend only on the shape, not on agent states
  const spots = useMemo(() => layOutAgents(team, lines), [shape])
  const nodes = team.agents.map(
    (agent): AgentNode => ({
      id: agent.agentId,
      type: 'agent',
      position: spots.get(agent.agentId) ?? { x: 0, y: 0 },
      width: NODE.width,
      height: NODE.height,
      data: {
        agent,
        lead: agent.agentId === team.row.lead,
        isOpen: agent.agentId === openAgentId,
        onOpen: () => onOpenAgent(agent.agentId),
      },
    }),
  )
  return (
    <ReactFlow
      nodes={nodes}
      edges={lines.map((line) => buildEdge(t, line))}
      nodeTypes={KINDS}
      fitView
      fitViewOptions={FIT}
      minZoom={0.15}
      maxZoom={1.6}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      zoomOnDoubleClick={false}
      disableKeyboardA11y
      ariaLabelConfig={NO_KEYBOARD_LABELS}
      onlyRenderVisibleElements={team.agents.length > 60}
    >
      <FitOnChange shape={shape} />
      <Controls />
    </ReactFlow>
  )
}

const CLASSES: Readonly<Record<Line['edge']['edgeType'], string>> = {
  child: 'line-child',
  path: 'line-path',
  handoff: 'line-handoff',
  wait: 'line-wait',
  depends: 'line-depends',
}

const COLOURS: Readonly<Record<Line['edge']['edgeType'], string>> = {
  child: 'var(--ink-faint)',
  path: 'var(--ink-faint)',
  handoff: 'var(--accent)',
  wait: 'var(--warn)',
  depends: 'var(--ink-faint)',
}

function buildEdge(t: Translate, line: Line): Edge {
  const { edge, source, target } = line
  const end = { type: MarkerType.ArrowClosed, color: COLOURS[edge.edgeType], width: 14, height: 14 }
  return {
    id: edge.key,
    source: source.agentId,
    target: target.agentId,
    ariaLabel: describeLine(t, line),
    className: CLASSES[edge.edgeType],
    markerEnd: end,
    ...(edge.direction === 'both' ? { markerStart: { ...end, orient: 'auto-start-reverse' } } : {}),
  }
}

/** Fits the graph into view when agents are added or removed. Otherwise the person's view stays. */
function FitOnChange({ shape }: { shape: string }) {
  const { fitView } = useReactFlow()
  // biome-ignore lint/correctness/useExhaustiveDependencies: run when the shape changes
  useEffect(() => {
    const frame = requestAnimationFrame(() => void fitView(FIT))
    return () => cancelAnimationFrame(frame)
  }, [shape, fitView])
  return null
}

function Controls() {
  const t = useT()
  const { zoomIn, zoomOut, fitView } = useReactFlow()
  return (
    <Panel position="bottom-left" className="flex rounded-md border border-line-strong bg-surface">
      <IconButton icon="plus" label={t('team.graph.zoom_in')} onClick={() => void zoomIn()} />
      <IconButton icon="minus" label={t('team.graph.zoom_out')} onClick={() => void zoomOut()} />
      <IconButton icon="fit" label={t('team.graph.fit')} onClick={() => void fitView(FIT)} />
    </Panel>
  )
}

function AgentBox({ data }: NodeProps<AgentNode>) {
  const t = useT()
  const { agent, lead, isOpen, onOpen } = data
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <button
        type="button"
        onClick={onOpen}
        className={`nopan flex h-full w-full flex-col justify-center rounded-md border bg-surface px-2.5 text-left hover:border-accent ${isOpen ? 'border-accent' : 'border-line-strong'}`}
      >
        <span className="flex w-full items-center gap-2">
          <StateDot agent={agent} />
          <span className="min-w-0 flex-1 truncate font-medium">{agent.name}</span>
          {lead && <span className="text-xs text-accent">{t('team.lead')}</span>}
        </span>
        <span className="flex w-full min-w-0 pl-4">
          <StateText agent={agent} />
        </span>
      </button>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  )
}
