"""What the types and numbers among an eager op's attributes and inputs are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .kernel_registry import type_name


class OpTypes:
    """Looks op types' definitions up once each."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[dict[str, str], list[tuple[str, str]]]] = {}

    def of(self, op_type: str, attrs: Any, inputs: Sequence[Any]) -> dict[str, Any]:
        """Attribute -> type's name, list of them, or number as text, of one op that ran."""
        known = self._known.get(op_type)
        if known is None:
            known = self._known[op_type] = _definition(op_type)
        kinds, arguments = known
        types: dict[str, Any] = {}
        for name, value in zip((attrs or ())[::2], (attrs or ())[1::2]):
            text = name.decode() if isinstance(name, bytes) else str(name)
            kind = kinds.get(text)
            if kind == "type":
                types[text] = type_name(int(value)) or "?"
            elif kind == "list(type)":
                types[text] = [type_name(int(one)) or "?" for one in value]
            elif kind == "int":
                types[text] = str(value)
        for (attribute, dtype), tensor in zip(arguments, inputs):
            if attribute and attribute not in types and not dtype:
                types[attribute] = tensor.dtype.name
        return types


def _definition(op_type: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(attribute -> kind, [(attribute that an input's type is, '=' where it is fixed)])."""
    from tensorflow.python.framework import op_def_registry

    found = op_def_registry.get(op_type)
    if found is None:
        return {}, []
    kinds = {attribute.name: attribute.type for attribute in found.attr}
    arguments: list[tuple[str, str]] = []
    for argument in found.input_arg:
        if argument.number_attr or argument.type_list_attr:
            break
        arguments.append((argument.type_attr, "" if argument.type_attr else "="))
    return kinds, arguments
