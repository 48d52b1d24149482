export function RunLink(props: {
  readonly label: string
  readonly text: string
  readonly onOpen: () => void
}) {
  return (
    <button
      type="button"
      aria-label={`${props.label}: ${props.text}`}
      onClick={props.onOpen}
      className="tabular rounded text-accent hover:underline"
    >
      {props.text}
    </button>
  )
}
