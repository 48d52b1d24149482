/**
 * Line icons on a 16 by 16 grid in the colour of the surrounding text. They are hidden from screen
 * readers.
 */

const PATHS = {
  plus: 'M8 3.5v9M3.5 8h9',
  minus: 'M3.5 8h9',
  fit: 'M2.5 6V3.5h3M10.5 3.5h3V6M13.5 10v2.5h-3M5.5 12.5h-3V10',
  close: 'M4 4l8 8M12 4l-8 8',
  arrowRight: 'M3 8h9.5M8.5 4l4 4-4 4',
  check: 'M3.5 8.5l3 3 6-7',
  chevronRight: 'M6 3.5L10.5 8 6 12.5',
  chevronDown: 'M3.5 6L8 10.5 12.5 6',
  arrowUp: 'M8 13V3.5M4 7.5l4-4 4 4',
  arrowDown: 'M8 3v9.5M4 8.5l4 4 4-4',
  sidebar: 'M2.5 3.5h11v9h-11zM6 3.5v9',
  details: 'M2.5 3.5h11v9h-11zM10 3.5v9',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  pin: 'M6 2.5h4M6.5 2.5v4L4.5 9h7l-2-2.5v-4M8 9v4.5',
  search: 'M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.5 10.5l3 3',
  stop: 'M4.5 4.5h7v7h-7z',
  play: 'M5 3.5v9l7-4.5z',
  clock: 'M8 13.5a5.5 5.5 0 100-11 5.5 5.5 0 000 11zM8 5v3l2 1.5',
  edit: 'M3 13l.7-2.8L10.5 3.4l2.1 2.1-6.8 6.8zM9 5l2 2',
  trash: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.5 8.5h6l.5-8.5',
  archive: 'M2.5 3.5h11v3h-11zM3.5 6.5v6h9v-6M6.5 9h3',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  terminal: 'M2.5 3.5h11v9h-11zM4.5 6l2 2-2 2M8 10.5h3',
  thought: 'M8 2.5a4 4 0 00-2.2 7.3c.4.3.7.8.7 1.2h3c0-.4.3-.9.7-1.2A4 4 0 008 2.5zM6.5 13h3',
  shield: 'M8 2.5l4.5 1.7v3.6c0 2.6-1.8 4.6-4.5 5.7-2.7-1.1-4.5-3.1-4.5-5.7V4.2z',
  warning: 'M8 3l5.5 9.5h-11zM8 6.5v3M8 11.2h.01',
  copy: 'M5.5 5.5h7v7h-7zM10.5 5.5v-2h-7v7h2',
  tool: 'M9.8 3a3 3 0 00-2.9 3.9L3 10.8 5.2 13l3.9-3.9A3 3 0 0013 6.2l-1.9 1.9-1.9-.4-.4-1.9L10.7 3.9A3 3 0 009.8 3z',
  steer: 'M3 12.5V9a3 3 0 013-3h7M10 3l3 3-3 3',
  inbox: 'M2.5 9l2-5.5h7l2 5.5v3.5h-11zM2.5 9H6l1 1.5h2L10 9h3.5',
  queue: 'M3 4.5h10M3 8h10M3 11.5h6',
  sun: 'M8 10.5a2.5 2.5 0 100-5 2.5 2.5 0 000 5zM8 2v1.5M8 12.5V14M2 8h1.5M12.5 8H14M3.8 3.8l1 1M11.2 11.2l1 1M12.2 3.8l-1 1M4.8 11.2l-1 1',
  globe: 'M8 13.5a5.5 5.5 0 100-11 5.5 5.5 0 000 11zM2.5 8h11M8 2.5c2 1.8 2 9.2 0 11M8 2.5c-2 1.8-2 9.2 0 11',
  gauge: 'M3 11.5a5.5 5.5 0 1110 0M8 10l2.5-3.5M8 10.2h.01',
  board: 'M2.5 3h3v8h-3zM6.5 3h3v5h-3zM10.5 3h3v10h-3z',
  plan: 'M3 4.2l1 1 1.8-2M3 8.7l1 1 1.8-2M8 4.5h5.5M8 9h5.5M3 13h.01M8 13h5.5',
  moon: 'M12.8 9.8A5.3 5.3 0 016.2 3.2a5.3 5.3 0 106.6 6.6z',
  pause: 'M5.5 4v8M10.5 4v8',
  download: 'M8 3v7M4.8 7l3.2 3.2L11.2 7M3 13h10',
  question: 'M5.8 6.2a2.2 2.2 0 114 1.2c-.6.8-1.8 1-1.8 2.2M8 12h.01',
  folder: 'M2.5 4h4l1.5 1.5h5.5v7h-11z',
  arrowLeft: 'M13 8H3.5M7.5 4l-4 4 4 4',
  code: 'M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5',
  document: 'M4 2.5h5l3 3v8H4zM6 7.5h4M6 10h4',
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 6.5v6',
  image: 'M2.5 3.5h11v9h-11zM2.5 11l3-3 2.5 2.5L11 7.5l2.5 2.5M5.5 6.2h.01',
  clip: 'M12.5 7.5l-5 5a3 3 0 01-4.2-4.2l5.5-5.5a2 2 0 012.8 2.8l-5.4 5.4a1 1 0 01-1.4-1.4l4.6-4.6',
  at: 'M10.5 8a2.5 2.5 0 11-5 0 2.5 2.5 0 015 0zm0 0v1a1.5 1.5 0 003 0V8A5.5 5.5 0 108 13.5c1 0 2-.2 2.8-.7',
  layers: 'M8 2.5l5.5 3L8 8.5l-5.5-3zM2.5 8.5L8 11.5l5.5-3M2.5 11L8 14l5.5-3',
  key: 'M10.5 8.5a3 3 0 10-2.9-3.7L3 9.5V13h3v-1.5h1.5V10l1.6-1.6a3 3 0 001.4.1zM11 5.2h.01',
  gear: 'M8 10a2 2 0 100-4 2 2 0 000 4zM8 2v2M8 12v2M2 8h2M12 8h2M3.8 3.8l1.4 1.4M10.8 10.8l1.4 1.4M12.2 3.8l-1.4 1.4M5.2 10.8l-1.4 1.4',
} as const

export type IconName = keyof typeof PATHS

export function Icon({
  name,
  size = 16,
  className = '',
}: {
  name: IconName
  size?: number
  className?: string
}) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 2 : 1.3}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      className={`shrink-0 ${className}`}
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
