"""Agent sessions: what an agent said, did and knew, kept in the log so that it can be taken up again."""
