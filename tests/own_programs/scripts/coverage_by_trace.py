"""python -m trace --count: lines counted of the program's own file."""

# frameworks: none
# command: sh -c 'cp FOLDER/framework.py . && cp "SCRIPT" program.py && PYTHON -m trace --count --missing -C counted --ignore-dir=/usr:CLONE program.py && cat counted/program.cover'
import framework

for size in range(1, 5):
    framework.array(size)
if framework.compute() == 13.0:
    print("never")
