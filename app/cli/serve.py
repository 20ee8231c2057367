"""`serve`: the dashboard."""

from __future__ import annotations

from app.cli.parser import Parser, port_number
from runners.environments import background_install
from runners.plan import script_folders

SUMMARY = "serve the dashboard (also without any command)"
DEFAULT_PORT = 8501


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--port", type=port_number, default=DEFAULT_PORT, help=f"port to serve on (default: {DEFAULT_PORT})"
    )
    parser.add_argument(
        "--listen",
        metavar="ADDRESS",
        help="address to listen on instead of loopback, so that others reach it",
    )
    parser.add_argument(
        "--new-tokens",
        action="store_true",
        help="tokens that were given out before work no longer (default: they are kept)",
    )
    parser.add_argument(
        "--no-token",
        action="store_true",
        help="ask for no token, for those who are alone on the machine: every user and program of it can then"
        " run any code as you",
    )
    parser.add_argument(
        "--scripts",
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder whose scripts operators may launch from the page; may be given several times",
    )
    parser.add_argument(
        "--build",
        choices=("cpu", "gpu"),
        help="builds of the frameworks that the Launch page installs (default: as NVML says)",
    )


def execute(arguments: list[str], parser: Parser) -> int:
    """Serve until stopped."""
    args = parser.parse(arguments)
    from app.server import Options, serve

    script_folders.allow(args.scripts)
    background_install.prefer(args.build)
    return serve(args.port, args.listen, Options(no_token=args.no_token, new_tokens=args.new_tokens))
