"""What can be proved from a log: pack, verify, replay and report."""
