"""Models to look at: graphs as pictures.

A picture is made in passes, each from one value to the next, and knows nothing of models after the
first one:

- `nodes`: the nodes and edges of a graph, as a plate diagram or as a factor graph; `plates`: which
  plate is inside of which; `blankets`: which role a node has for one variable
- `layers`: in which row a node stands; `order`: in which order, with few crossings; `places`: where
  exactly, by `separations`; `text_widths` says how wide a text is
- `diagrams`: the picture as a value, written as `svg`

Statements are typeset, in LaTeX and in MathML: `formulas` writes expressions, `statements` the
lines of a model, in the languages of `markup`. Notebooks show `pages`, made of the blocks in
`gibbsppl.html`, as are those of samplers and draws. `methods`: what a model has of all this.
"""
