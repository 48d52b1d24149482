"""What the verbs share: output, questions, approvals and exit codes."""
