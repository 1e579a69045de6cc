"""Runs in folders: draws as they come, and how far each chain has come, whole at any moment.

A run in a folder can be killed at any time, and goes on from its last checkpoint with the same
draws as if it had not been. `folders` has the run, its checkpoints and a lock; `arrays` are its
draws, one file for each variable; `sealed` files say whether they are whole; `identity` says what
a run was made of.
"""
