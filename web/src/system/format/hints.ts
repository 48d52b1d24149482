/** Hints of the API, reworded for the page. */

// Importing the command table would add a tenth to the first load. A test checks these words
// against it.
const A_COMMAND =
  /\b(?:add|append|apply|cancel|close|compact|complete|create|delete|dry|edit|evaluate|export|fail|find|get|import|interrupt|link|list|merge|open|pause|preview|promote|reconnect|remove|request|resolve|respond|resume|retry|revoke|rollback|send|set|spawn|start|steer|submit|terminate|test|trust|unlink|update|wait|write)_[a-z]/

/** Return a hint that applies to the page; empty if only an API client could follow it. */
export function rewordHint(hint: string): string {
  return A_COMMAND.test(hint) ? '' : hint
}
