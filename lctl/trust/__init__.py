"""What may be relied on: confidence that decays as facts cross between agents, consensus, gates, contracts,
agent types and the error taxonomy.

Pure folds of events, used alike by a session while it records and by readers of a log. Nothing is imported
here: a program that records loads a part when it uses it.
"""
