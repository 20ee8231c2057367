"""Free ports in place of their names."""

from __future__ import annotations

import json
import socket

from runners.supervise.members import Member, Stage
from runners.supervise.ports import PORTS, fill_ports, free_ports


def test_ports_are_free_and_different_and_rise_with_their_names() -> None:
    ports = free_ports(["worker-10", "worker-2", "scheduler"])
    assert sorted(ports, key=ports.__getitem__) == ["scheduler", "worker-2", "worker-10"]
    assert len(set(ports.values())) == 3
    for port in ports.values():
        assert port in PORTS
        socket.create_server(("127.0.0.1", port)).close()


def test_a_port_somebody_listens_on_is_not_given() -> None:
    taken = free_ports(["a"])["a"]
    with socket.create_server(("127.0.0.1", taken)):
        assert taken not in free_ports(map(str, range(200))).values()


def test_a_name_has_one_port_wherever_it_stands() -> None:
    cluster = {"worker": ["localhost:<port:worker-0>", "localhost:<port:worker-1>"]}
    members = tuple(
        Member(
            f"worker-{rank}", ["python", f"--port=<port:worker-{rank}>"], {"TF_CONFIG": json.dumps(cluster)}
        )
        for rank in (0, 1)
    )
    (stage,) = fill_ports([Stage("run", members)])
    first, second = stage.members
    assert first.env == second.env
    addresses = json.loads(first.env["TF_CONFIG"] or "")["worker"]
    assert [f"--port={address.rpartition(':')[2]}" for address in addresses] == [
        first.command[1],
        second.command[1],
    ]


def test_nothing_is_changed_without_a_name() -> None:
    stage = Stage("run", (Member("program", ["python", "<run>"], {"GONE": None}),))
    assert fill_ports([stage]) == (stage,)
