import type { Code, Problem } from '../generated/contracts'

/**
 * A refusal, or a failure to reach the server. `code` is stable; `message` is the server's text.
 */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: Code | 'unreachable'
  readonly field: string
  readonly hint: string
  /** Details the code; empty for none. */
  readonly reason: string
  readonly params: Readonly<Record<string, string>>

  constructor(status: number, problem: Omit<Problem, 'code'> & { readonly code: Code | 'unreachable' }) {
    super(problem.message)
    this.name = 'ApiProblem'
    this.status = status
    this.code = problem.code
    this.field = problem.field ?? ''
    this.hint = problem.hint ?? ''
    this.reason = problem.reason ?? ''
    this.params = problem.params ?? {}
  }

  /** True if no answer came. The outcome is unknown, and resending with the same key is safe. */
  get isUnanswered(): boolean {
    return this.code === 'unreachable'
  }
}

/** Read the problem from a response with an error status. */
export async function readProblem(response: Response): Promise<ApiProblem> {
  const body: unknown = await response.json().catch(() => null)
  if (isProblem(body)) return new ApiProblem(response.status, body)
  const code = response.status === 401 ? 'unauthenticated' : 'internal'
  return new ApiProblem(response.status, { code, message: `HTTP ${response.status}` })
}

function isProblem(body: unknown): body is Problem {
  if (typeof body !== 'object' || body === null) return false
  return (
    'code' in body && typeof body.code === 'string' && 'message' in body && typeof body.message === 'string'
  )
}
