"""Files of a folder: handles, path confinement, text, media and changes."""
