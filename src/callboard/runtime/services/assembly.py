"""The list of services."""

from __future__ import annotations

from ..artifacts.exporter import ArtifactExporter
from ..artifacts.queries import ArtifactReads
from ..artifacts.writer import ArtifactWriter
from ..dependencies import Dependencies
from ..permissions.permission_preview import PermissionPreview
from ..permissions.trust_service import TrustService
from ..queries.context import ContextReads
from ..queries.models import ModelReads
from ..queries.processes import ProcessReads
from ..queries.session import SessionReads
from ..queries.tasks import TaskReads
from ..queries.team import TeamReads
from ..queries.tools import ToolReads
from ..service import Service
from ..session_registry import SessionRegistry
from ..workspaces.registry import WorkspaceRegistry
from .action_answers import ActionAnswers
from .evidence_exporter import EvidenceExporter
from .key_store import KeyStore
from .session_importer import SessionImporter
from .session_starter import SessionStarter
from .workspaces import WorkspaceService
from .worktree_merge import WorktreeMerger


def build_services(
    dependencies: Dependencies, sessions: SessionRegistry, workspaces: WorkspaceRegistry
) -> tuple[Service, ...]:
    """Return the services in the order in which they are closed."""
    parts = (dependencies, sessions, workspaces)
    reads = ArtifactReads(*parts)
    exporter = ArtifactExporter(*parts, reads)
    return (
        SessionImporter(*parts),
        WorktreeMerger(*parts),
        ArtifactWriter(*parts, reads, exporter),
        exporter,
        reads,
        EvidenceExporter(*parts),
        *(SessionStarter(*parts), WorkspaceService(*parts), ActionAnswers(*parts)),
        *(TrustService(*parts), PermissionPreview(*parts), KeyStore(*parts)),
        *(SessionReads(*parts), TeamReads(*parts), TaskReads(*parts), ContextReads(*parts)),
        *(ProcessReads(*parts), ToolReads(*parts), ModelReads(*parts)),
    )
