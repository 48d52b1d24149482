/** The text/event-stream format, as it comes in pieces cut anywhere. */

export interface StreamEvent {
  readonly event: string
  readonly id: string | null
  readonly data: string
}

export class EventStreamParser {
  #rest = ''
  #event = ''
  #id: string | null = null
  #data: string[] = []

  /** The events that are complete with this piece. Comments are no events. */
  push(piece: string): StreamEvent[] {
    const events: StreamEvent[] = []
    const text = this.#rest + piece
    let start = 0
    for (;;) {
      const end = lineEnd(text, start)
      if (end === null) break
      this.#line(text.slice(start, end.at), events)
      start = end.next
    }
    this.#rest = text.slice(start)
    return events
  }

  #line(line: string, events: StreamEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) {
        events.push({ event: this.#event || 'message', id: this.#id, data: this.#data.join('\n') })
      }
      this.#event = ''
      this.#id = null
      this.#data = []
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') this.#data.push(value)
    else if (field === 'event') this.#event = value
    else if (field === 'id') this.#id = value
  }
}

function lineEnd(text: string, from: number): { at: number; next: number } | null {
  for (let i = from; i < text.length; i++) {
    const unit = text[i]
    if (unit === '\n') return { at: i, next: i + 1 }
    if (unit === '\r') {
      // A carriage return at the very end may be half of a pair.
      if (i + 1 === text.length) return null
      return { at: i, next: text[i + 1] === '\n' ? i + 2 : i + 1 }
    }
  }
  return null
}
