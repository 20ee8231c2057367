"""The page for those who come without a token."""

from __future__ import annotations

import html
import string
from collections.abc import Iterable

TOKEN = "token"
"""The name of the token in an address."""

_PAGE = string.Template("""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Hopscope: a token is required</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 36rem; margin: 18vh auto 0; padding: 0 1.5rem; }
h1 { font-size: 1.4rem; font-weight: 650; margin: 0 0 .5rem; }
p { margin: 0 0 1.25rem; }
code { font-size: .92em; padding: .1em .35em; border-radius: 4px; background: #8882; }
form { display: flex; gap: .5rem; }
input[name=token], button { font: inherit; padding: .5rem 1.1rem; border-radius: 8px; }
input[name=token] { flex: 1; min-width: 0; border: 1px solid #8888; background: Field; color: FieldText; }
button { cursor: pointer; border: 0; }
button { background: light-dark(#2f5378, #8db4dc); color: light-dark(#fff, #0e1117); }
</style>
<h1>A token is required</h1>
<p>Open the address that <code>python3 -m app token</code> prints on the machine of this dashboard, or paste
the token that you were given.</p>
<form method="get" action="$path">$fields
<input type="password" name="token" aria-label="Token" autocomplete="off" autofocus required>
<button>Open</button></form>
</html>
""")


def sign_in(path: str, query: Iterable[tuple[str, str]]) -> str:
    """The page as HTML; it leads on to `path` with the fields of `query`."""
    fields = "".join(
        f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
        for name, value in query
    )
    return _PAGE.substitute(path=html.escape("/" + path.lstrip("/")), fields=fields)
