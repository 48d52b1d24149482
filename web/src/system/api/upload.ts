/** Sending a file with its progress. The browser tells how far an upload is only to this kind of request. */
import { ApiProblem, problemOf } from './problem'

/** The browser's `fetch`, or what stands in for it. */
export type Fetch = (input: string, init?: RequestInit) => Promise<Response>

/** A file as the server took it. `media` is what its bytes say it is, `size` is in bytes. */
export interface Upload {
  readonly upload: string
  readonly name: string
  readonly media: string
  readonly size: number
}

/** `onProgress` is told the share that was sent, from 0 to 1. */
export type SendFile = (
  path: string,
  file: Blob,
  onProgress: (share: number) => void,
  signal: AbortSignal,
) => Promise<Response>

/** Sends by the browser's request that tells its progress. */
export function sendByRequest(headers: () => Promise<Readonly<Record<string, string>>>): SendFile {
  return async (path, file, onProgress, signal) => sendWith(await headers(), path, file, onProgress, signal)
}

function sendWith(
  headers: Readonly<Record<string, string>>,
  path: string,
  file: Blob,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw new DOMException('aborted', 'AbortError')
    const request = new XMLHttpRequest()
    request.open('POST', path)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total)
    }
    request.onload = () => resolve(new Response(request.responseText, { status: request.status }))
    request.onerror = () => reject(new TypeError('the upload was cut'))
    request.onabort = () => reject(new DOMException('aborted', 'AbortError'))
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}

/** Sends by `fetch`, which tells nothing of its progress. */
export function sendByFetch(fetch: Fetch): SendFile {
  return (path, file, _onProgress, signal) => {
    const headers = { 'content-type': 'application/octet-stream' }
    return fetch(path, { method: 'POST', body: file, headers, signal, credentials: 'omit' })
  }
}

/** The file as the server took it. Raises ApiProblem. */
export async function uploaded(sending: Promise<Response>, signal: AbortSignal): Promise<Upload> {
  let response: Response
  try {
    response = await sending
  } catch (error) {
    if (signal.aborted) throw error
    throw new ApiProblem(0, { code: 'unreachable', message: String(error) })
  }
  if (!response.ok) throw await problemOf(response)
  return (await response.json()) as Upload
}
