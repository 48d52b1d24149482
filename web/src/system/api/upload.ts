/** File uploads with progress. Browsers report upload progress only for `XMLHttpRequest`. */
import { ApiProblem, readProblem } from './problem'

/** The browser's `fetch`, or a replacement. */
export type Fetch = (input: string, init?: RequestInit) => Promise<Response>

/** An uploaded file. `media` is detected from its bytes; `size` is in bytes. */
export interface Upload {
  readonly upload: string
  readonly name: string
  readonly media: string
  readonly size: number
}

/** `onProgress` receives the uploaded share, from 0 to 1. */
export type SendFile = (
  path: string,
  file: Blob,
  onProgress: (share: number) => void,
  signal: AbortSignal,
) => Promise<Response>

/** Upload with `XMLHttpRequest`, which reports progress. */
export function sendByRequest(getHeaders: () => Promise<Readonly<Record<string, string>>>): SendFile {
  return async (path, file, onProgress, signal) =>
    sendRequest(await getHeaders(), path, file, onProgress, signal)
}

function sendRequest(
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

/** Upload with `fetch`, which reports no progress. */
export function sendByFetch(fetch: Fetch): SendFile {
  return (path, file, _onProgress, signal) => {
    const headers = { 'content-type': 'application/octet-stream' }
    return fetch(path, { method: 'POST', body: file, headers, signal, credentials: 'omit' })
  }
}

/** Wait for the upload and return the server's record of it. Raises ApiProblem. */
export async function awaitUpload(sending: Promise<Response>, signal: AbortSignal): Promise<Upload> {
  let response: Response
  try {
    response = await sending
  } catch (error) {
    if (signal.aborted) throw error
    throw new ApiProblem(0, { code: 'unreachable', message: String(error) })
  }
  if (!response.ok) throw await readProblem(response)
  return (await response.json()) as Upload
}
