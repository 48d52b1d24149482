"""Teams to watch: real runs of the real runtime in a folder of their own, with a script in place of the model.

catalog    what there is to watch, and how one is set out
elsewhere  the agent of a demo that runs as a process of its own
printshop  that process
plays/     one folder a demo: `demo.yaml` says what it is, `scenario.yaml` what its agents say, `folder/` what they work on
"""
