/** What the API says, in words of the page. */

// The commands themselves would be a tenth of the page's first load; a test holds these words to their names.
const A_COMMAND =
  /\b(?:add|append|apply|cancel|close|compact|complete|create|delete|dry|edit|evaluate|export|fail|find|get|import|interrupt|link|list|merge|open|pause|preview|promote|reconnect|remove|request|resolve|respond|resume|retry|revoke|rollback|send|set|spawn|start|steer|submit|terminate|test|trust|unlink|update|wait|write)_[a-z]/

/** The hint as it helps at the page. One that only a client of the API could follow is left out. */
export function forPeople(hint: string): string {
  return A_COMMAND.test(hint) ? '' : hint
}
