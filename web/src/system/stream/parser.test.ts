import { expect, test } from 'vitest'
import { EventStreamParser } from './parser'

const TEXT =
  'id: 7.2\nevent: ops\ndata: {"a":1}\n\n:\n\nevent: problem\r\ndata: one\r\ndata: two\r\n\r\ndata: bare\n\n'
const EVENTS = [
  { event: 'ops', id: '7.2', data: '{"a":1}' },
  { event: 'problem', id: null, data: 'one\ntwo' },
  { event: 'message', id: null, data: 'bare' },
]

test('events are the same wherever the stream is cut', () => {
  for (let size = 1; size <= TEXT.length; size++) {
    const parser = new EventStreamParser()
    const events = []
    for (let start = 0; start < TEXT.length; start += size) {
      events.push(...parser.push(TEXT.slice(start, start + size)))
    }
    expect(events, `in pieces of ${size}`).toEqual(EVENTS)
  }
})

test('comments and events without data are nothing', () => {
  const parser = new EventStreamParser()
  expect(parser.push(': keep-alive\n\nevent: ops\nid: 3\n\n')).toEqual([])
})
