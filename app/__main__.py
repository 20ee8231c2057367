"""The command: `python3 -m app`, from a fresh clone with nothing but Python."""

# This file must run on any Python 3, if only to say that it is too old.
import os
import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "hopscope: this is Python %d.%d; Hopscope needs 3.11 or newer: python3.11 -m app\n"
        % sys.version_info[:2]
    )
    sys.exit(1)

if not sys.platform.startswith("linux"):
    sys.stderr.write("hopscope: this is %s; Hopscope runs on Linux\n" % sys.platform)
    sys.exit(1)

if not __package__:
    # Started as a folder, `python3 /path/to/clone/app`: the clone is the import root, not app/.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

for number in range(3):
    # The number of a standard stream that was closed would be the next file's that is opened.
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)
sys.stdout = sys.stdout or os.fdopen(1, "w")
sys.stderr = sys.stderr or os.fdopen(2, "w")

from app.bootstrap import main  # noqa: E402 - it opens files

sys.exit(main(sys.argv[1:]))
