"""Made-up input of every kind, from which nothing may come but a result or an error of ours.

A case is a short Python script, a function of its kind and a number: what it finds can be pasted
and run. ``scripts`` runs one and says what went wrong; ``kinds`` has the makers of scripts;
``python tests/fuzz/run.py KIND FIRST LAST --out FILE`` runs many.
"""
