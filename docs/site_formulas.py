"""Formulas of the site: the reference of distributions with MathML, which browsers show."""

from typing import Any

from gibbsppl.atlas import distributions


def on_page_read_source(page: Any, config: Any) -> str | None:
    """The source of a page; None for what its file says."""
    del config
    if page.file.src_path != "distributions.md":
        return None
    return distributions.page(distributions.IN_MATHML)
