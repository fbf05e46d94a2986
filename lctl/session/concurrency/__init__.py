"""Lanes: what runs where in a program of threads, tasks and processes, and in which order they act."""
