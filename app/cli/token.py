"""`token`: the addresses that open this home's dashboards."""

from __future__ import annotations

from app.cli.output import print_json, say
from app.cli.parser import Parser, add_json
from probes.attach import dashboards
from runners.errors import HopscopeError

SUMMARY = "print the addresses that open the dashboard, with their tokens"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Print them for each dashboard that serves now; the tokens alone where none does."""
    args = parser.parse(arguments)
    from app.opening import token_lines
    from app.tokens import file, known_tokens

    held = known_tokens()
    if held is None:
        raise HopscopeError(
            f"there are no tokens in {file()} yet: the dashboard creates them when it starts (python3 -m app)"
        )
    addresses = dashboards.serving()
    if args.json:
        print_json({"addresses": addresses, "tokens": {role: token for token, role in held.items()}})
        return 0
    for address in addresses:
        say("\n".join(token_lines(address, held)))
    if not addresses:
        say("\n".join(f"{role}: {token}" for token, role in held.items()))
        say("No dashboard serves now; python3 -m app starts one.")
    return 0
