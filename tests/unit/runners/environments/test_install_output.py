"""What uv's output is taken to mean, and pip's, which gets uv."""

from __future__ import annotations

import pytest

from runners.environments.install_output import InstallOutput

WHOLE = """\
Using Python 3.11.2 environment at: e1
Resolved 38 packages in 285ms
Downloading pillow (10.0MiB)
Downloading duckdb (30.0MiB)
 Downloaded pillow
 Downloaded duckdb
Prepared 38 packages in 3.09s
Installed 38 packages in 213ms
"""


def fed(text: str) -> InstallOutput:
    output = InstallOutput()
    for line in text.splitlines():
        output.feed(line + "\n")
    return output


def test_progress_counts_bytes_and_names_the_largest_file() -> None:
    output = InstallOutput()
    seen = []
    for line in WHOLE.splitlines():
        output.feed(line)
        seen.append((output.step, output.fraction))
    assert seen == [
        ("asking the package index", None),
        ("fetching 38 packages", None),
        ("downloading pillow, 10.0 MiB", 0.0),
        ("downloading duckdb, 30.0 MiB and 1 more", 0.0),
        ("downloading duckdb, 30.0 MiB", pytest.approx(0.225)),
        ("downloading duckdb, 30.0 MiB", 0.9),
        ("installing 38 packages", 0.9),
        ("compiling 38 packages", 0.95),
    ]


NO_NETWORK = """\
error: Request failed after 1 retry in 1.5s
  cause: Failed to fetch: https://nowhere.invalid/{}
  cause: error sending request for url (https://nowhere.invalid/)
  cause: client error (Connect)
"""
UNRESOLVED = (
    "error: No solution found when resolving dependencies\n  cause: Because {}, we can conclude that no"
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (NO_NETWORK.format("left"), "no network: the package index does not answer (PIP_INDEX_URL names"),
        (
            NO_NETWORK.format("cpython-3.9.tar.gz"),
            "uv fetches Pythons from does not answer (UV_PYTHON_INSTALL_",
        ),
        (
            UNRESOLVED.format("left was not found in the package registry and you require left"),
            "the package index has no left",
        ),
        (
            UNRESOLVED.format("odd==1.0 has no wheels with a matching Python tag (e.g., `cp311`)"),
            "the package index has no build of odd for this Python and system",
        ),
        (
            UNRESOLVED.format("only left==1.0 is available and you require left>=2"),
            "No solution found when resolving dependencies: Because only left==1.0 is available and you",
        ),
        (
            "error: Failed to fetch\n  cause: invalid peer certificate: UnknownIssuer",
            "certificate is not trusted",
        ),
        ("error: Failed to download\n  ╰─▶ Hash mismatch for `left==1.0`", "left is not what was locked"),
        ("error: x\n  cause: No space left on device (os error 28)", "no space left on the disk"),
        (
            "error: Failed\n  cause: failed to create directory `/opt/x`: Permission denied (os error 13)",
            "no permission to write /opt/x",
        ),
        ("error: first\n  cause: second\n  cause: third", "first: third"),
        ("something else", "something else"),
        # pip's.
        ("WARNING: Retrying (Retry(total=0)) after 'NewConnectionError(..)'", "no network"),
        (
            "ERROR: Could not find a version that satisfies the requirement uv (from versions: none)\n"
            "ERROR: No matching distribution found for uv>=0.8",
            "the package index has no uv, or does not answer",
        ),
        ("ERROR: No matching distribution found for uv>=0.8", "has no build of uv for this Python"),
    ],
)
def test_failure_is_told_in_part_of_a_line(text: str, reason: str) -> None:
    told = fed(text).failure()
    assert reason in told and "\n" not in told
