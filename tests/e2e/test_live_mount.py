"""What stands in a component's place when Streamlit calls its script again while an earlier call runs.

Its BidiComponent imports the script before each call, and cleans up after a call that a newer one overtook.
"""

from __future__ import annotations

from typing import Any

from app.components.shared.assets import script

_CALLS = """async (text) => {
  const { default: draw } = await import(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
  const place = document.createElement('div');
  place.innerHTML = '<div class="hopscope"></div>';
  document.body.append(place);
  const cell = { text: 'running', tone: 'busy' };
  const facts = [{ name: 'state', label: 'State', kind: 'badge', cell, wide: false }];
  const call = () => draw({ data: { facts, testid: 'facts' }, parentElement: place, setTriggerValue() {} });
  const overtaken = call();
  const last = call();
  overtaken();
  const kept = place.querySelector('.fact-value');
  call();
  const values = place.querySelectorAll('.fact-value');
  const found = { values: values.length, same: values[0] === kept };
  place.remove();
  last();
  document.body.append(place);
  place.innerHTML = '<div class="hopscope"></div>';
  call();
  return { ...found, again: place.querySelectorAll('.fact-value').length };
}"""


def test_cleaning_up_after_an_overtaken_call_leaves_what_is_in_use(page: Any) -> None:
    found = page.evaluate(_CALLS, script("facts/facts"))
    assert found == {"values": 1, "same": True, "again": 1}
