"""What all pages look like: tighter than Streamlit's own spacing, so that a run fits on one screen."""

from __future__ import annotations

import streamlit as st

from app.components.shared.palette import PALETTES

_STYLE = """<style>
.stMainBlockContainer { padding: 4.75rem 2.5rem 3rem; max-width: 1800px; }
.stMainBlockContainer h1 { padding: 0 0 0.6rem; }
.stMainBlockContainer h2 { padding: 0.25rem 0 0.25rem; }
.stMainBlockContainer h3 { padding: 0.25rem 0 0; }
.stMainBlockContainer h4 { padding: 0.25rem 0; }
/* Beside the tabs: it takes no height of its own. */
:has(> .st-key-filter) { height: 0; margin-bottom: -1rem; z-index: 2; pointer-events: none; }
.st-key-filter { min-height: 2.5rem; align-items: center; flex-wrap: nowrap; }
.st-key-filter * { pointer-events: auto; }
.st-key-filter [data-testid="stMarkdownContainer"] { margin: 0; }
.st-key-filter [data-testid="stCaptionContainer"] { margin: 0; }
.st-key-filter p { margin: 0; }
@media (max-width: 1100px) { .st-key-filter [data-testid="stCaptionContainer"] { display: none; } }
/* What is drawn anew every second must not fade meanwhile. */
[data-stale="true"] { opacity: 1 !important; transition: none !important; }
[data-testid="stMultiSelect"] [data-tag] { background: rgb(128 140 160 / 22%); }
[data-testid="stMultiSelect"] [data-tag], [data-testid="stMultiSelect"] [data-tag] * { color: inherit; }
[data-testid="stHeaderActionElements"] { display: none; }
/* The dark page's primary colour is light: white on it would be faint. */
/* A dialog stands beside the page, which alone is told its scheme: the text around a button tells it. */
[data-testid="stDialog"] { color-scheme: light dark; }
[data-testid^="stBaseButton-primary"]:not(:disabled) {
  color: light-dark(BRIGHT, PAPER);
  color: oklch(from currentColor clamp(0.17, (0.6 - l) * 1000, 1) 0 0);
}
</style>""".replace("BRIGHT", PALETTES["light"]["bright"]).replace("PAPER", PALETTES["dark"]["background"])


def dress() -> None:
    """Puts the project's spacing on the page that runs now."""
    st.html(_STYLE)
