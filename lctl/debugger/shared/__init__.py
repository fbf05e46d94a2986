"""The debugger for a team: `lctl serve`. It shows, and changes nothing.

accounts    who may come in: names with hashed passwords, tokens
door        stands before the application: sign-in, signed cookies, Host, Origin
pages       the sign-in page
storeruns   the runs of a store, as the debugger's views take them
"""
