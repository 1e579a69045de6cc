"""The cache of derivations: what was derived once is read from the disk by the next process.

- `fingerprint`: a digest of all that a derivation follows from, or that there is none
- `folder`: files by digest, written whole, bounded in number and size
- `plans`: derivations of this process, which serve other data of which nothing asked differs
- `derivation`: what was derived of a model, at once or when asked for

`gibbsppl.runtime.cache_folder` says where; docs/sampling.md says more.
"""
