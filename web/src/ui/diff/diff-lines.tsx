import { Diff, Hunk, parseDiff } from 'react-diff-view'
import 'react-diff-view/style/index.css'

/** A unified diff of one file, laid out. The caller has seen that it has hunks. */
export default function DiffLines({ hunks }: { hunks: string }) {
  // The parser wants git's header; names are shown by the caller, so constant ones keep odd names out of it.
  const [file] = parseDiff(`diff --git a/file b/file\n--- a/file\n+++ b/file\n${hunks}`)
  if (file === undefined) return null
  return (
    <Diff viewType="unified" diffType="modify" hunks={file.hunks}>
      {(parsed) => parsed.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
    </Diff>
  )
}
