"""python -m pdb to the end, with a breakpoint in the user's function."""

# frameworks: none tensorflow mxnet
# command: sh -c 'cd FOLDER && printf "b work\nc\nbt\nc\nq\n" | exec PYTHON -m pdb "SCRIPT"'
import framework


def work():
    return framework.compute()


print(work())
