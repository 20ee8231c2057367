"""The user's own modules named app, probes, tests, runners, hopscope and sitecustomize."""

# frameworks: none tensorflow mxnet
# quick: none
import os
import sys

for name in ("app", "probes", "tests", "runners", "pages", "hopscope", "sitecustomize_own", "boot"):
    with open(f"{name}.py", "w") as file:
        file.write(f"value = {name!r}\n")
sys.path.insert(0, os.getcwd())
import app
import boot
import hopscope
import pages
import probes
import runners
import tests

import framework

print([one.value for one in (app, probes, tests, runners, pages, hopscope, boot)], framework.compute())
print([getattr(one, "__file__", "").startswith(os.getcwd()) for one in (app, probes, tests)])
