"""Started in place of a script of which an edited copy is to run: ``edited_script.py SCRIPT ARGS..``."""

__import__("sys").modules["_hopscope.trace.edited"].run_main()
