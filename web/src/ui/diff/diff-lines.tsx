import { Diff, Hunk, parseDiff } from 'react-diff-view'
import 'react-diff-view/style/index.css'

/** A unified diff of one file. The caller ensures that it has hunks. */
export default function DiffLines({ hunks }: { hunks: string }) {
  // The parser requires git's header. Constant names avoid parsing problems; the caller shows the
  // real ones.
  const [file] = parseDiff(`diff --git a/file b/file\n--- a/file\n+++ b/file\n${hunks}`)
  if (file === undefined) return null
  return (
    <Diff viewType="unified" diffType="modify" hunks={file.hunks}>
      {(parsed) => parsed.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
    </Diff>
  )
}
