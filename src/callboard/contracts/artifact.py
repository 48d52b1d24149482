"""The words of artifacts: deliverables with versions."""

from __future__ import annotations

from typing import Literal

#: What an artifact is, by its path and content: a file of the folder, or a text that is kept by Callboard alone.
ArtifactKind = Literal["code", "document", "data", "image", "binary", "text"]
#: Where a version came from: an agent's step, a person's hand, a former version taken up again, or the folder as it was found.
VersionOrigin = Literal["agent", "person", "rollback", "found"]
#: `saving` from the intent to what came of it; `failed` and `conflict` until the next version, with the draft kept.
ArtifactStatus = Literal["saved", "saving", "conflict", "failed", "deleted", "unknown"]
#: What failed.
ArtifactOperation = Literal["save", "rollback", "export", "delete"]
#: What an export makes: a version as it is, the difference of two, a page of a Markdown text, an archive of several.
ExportForm = Literal["file", "diff", "html", "zip"]
