"""Folding events into state, floor F1: pure, no clock, no random, no environment."""
