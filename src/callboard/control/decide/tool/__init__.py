"""Tool calls: request, gate, approval, questions and result."""
