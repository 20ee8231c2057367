"""Pages as HTML from templates beside the code that fills them: whatever is filled in is shown as text."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import jinja2

_APP = Path(__file__).resolve().parents[1]


def render(template: str, **values: object) -> str:
    """Fill a template, named by its path within `app`."""
    return _templates().get_template(template).render(values)


@functools.cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_APP),
        autoescape=True,
        # Parts of a report may be missing or None.
        undefined=jinja2.ChainableUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["as_json"] = functools.partial(json.dumps, ensure_ascii=False, default=str)
    return made
