"""Callboard in the process or as a process, with its sessions, for rows and workers."""
