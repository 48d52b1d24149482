"""Where it is put together: settings, wiring, the process that serves, and the command line. Only here a store is chosen.

home        the user's state folder and what lies in it
settings    what a person can set: file, environment, flags
providers   the models that a person named
wiring      the one place where concrete things meet
endpoint    how the process that writes the store is found
hosting     being that process, or finding the one that is
serve       `up`, from start to stop, told as milestones
client      a client of a running Callboard
joining     a client, whether it runs already or is run for as long as that takes
turns       one turn from a prompt to its end
reading/    reading without changing anything, with or without a running process
cli/        the command line
"""
