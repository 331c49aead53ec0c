"""The commands as tools of the Model Context Protocol, for agents: over stdio, within the folders that were named.

Each call runs the command line itself in a process of its own. So every refusal is the command's, a crash takes nothing
else along, a cancelled call ends like one that got Ctrl-C, and standard output is the protocol's alone.
"""
