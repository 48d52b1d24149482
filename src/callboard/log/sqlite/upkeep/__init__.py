"""Upkeep of a store from outside: what is damaged in it, and copies of it.

damage    one thing that is wrong, and what to do about it
checking  the whole store, or a quick part of it
folders   the folders of its workspaces
derived_check  what is derived
copying   a consistent copy while another process writes
"""
