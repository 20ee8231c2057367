"""Faults that a run meets, tried over and over: processes killed, disks full, files damaged, clocks set."""
