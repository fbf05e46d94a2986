"""Stores beyond one file: SQLite and PostgreSQL behind one contract, chosen by address. Floor F2.

A recording goes into its local journal first (`lctl.record`); `delivery` brings it from there to the
store, in order, once, also when the store was away meanwhile.
"""
