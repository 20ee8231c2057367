"""Hopscope's own version, which every run keeps."""

VERSION = "0.1.0"
