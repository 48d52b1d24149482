"""How a model is asked: providers, ``offline``, ``scripted`` and ``recorded`` behind one port.

Answers are typed parts; a stream that was cut is told from one that finished.
"""
