"""Builds the package's wheel with the standard library alone; nothing is fetched, or left in the clone.

The wheel notes where the clone is, because the recorder and the dashboard stay there.
"""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
from typing import Any, Optional

NAME, VERSION = "hopscope", "0.1.0"
MODULES = ("__init__.py", "clone.py", "forbidding.py", "judge.py", "pytest_plugin.py", "recorded.py")
_HERE = os.path.dirname(os.path.abspath(__file__))
_CLONE = os.path.dirname(_HERE)
_INFO = f"{NAME}-{VERSION}.dist-info"
_METADATA = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nRequires-Python: >=3.9\n"
_WHEEL = "Wheel-Version: 1.0\nGenerator: hopscope\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_ENTRY_POINTS = "[pytest11]\nhopscope = hopscope.pytest_plugin\n"


def get_requires_for_build_wheel(config_settings: Optional[dict[str, Any]] = None) -> list[str]:
    """Nothing is needed."""
    return []


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[dict[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    """Write the wheel into a folder and return its name; called by pip."""
    if not os.path.isfile(os.path.join(_CLONE, "probes", "boot.py")):
        raise SystemExit(
            f"{_CLONE} is not Hopscope's clone: name its folder, pip install CLONE/hopscope; an old pip "
            "copies the folder first, so: python -m pip install --upgrade 'pip>=21.3'"
        )
    files = {f"{NAME}/{module}": _read(module) for module in MODULES}
    files[f"{NAME}/_installed_from.py"] = f'"""Written when this was installed."""\n\nCLONE = {_CLONE!r}\n'
    files |= {f"{_INFO}/METADATA": _METADATA, f"{_INFO}/WHEEL": _WHEEL}
    files[f"{_INFO}/entry_points.txt"] = _ENTRY_POINTS
    record = [f"{name},{_digest(text)},{len(text.encode())}" for name, text in files.items()]
    files[f"{_INFO}/RECORD"] = "\n".join([*record, f"{_INFO}/RECORD,,"]) + "\n"
    name = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name


def _read(module: str) -> str:
    with open(os.path.join(_HERE, module), encoding="utf-8") as file:
        return file.read()


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
