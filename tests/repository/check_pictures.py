"""usage: check_pictures.py PROGRAM FOLDER: whether the pictures in a folder are those that the program draws today.

Where things lie is Graphviz's affair and differs between its releases; what is compared are the words in the pictures.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def words(path):
    return re.findall(r"<(?:text|title)[^>]*>([^<]*)</", path.read_text())


program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
with tempfile.TemporaryDirectory() as drawn:
    subprocess.run([program, drawn], check=True)
    today = {path.name: words(path) for path in pathlib.Path(drawn).glob("*.svg")}
if not today:
    print("skipped: Graphviz is not installed")
    sys.exit(77)
committed = {path.name: words(path) for path in folder.glob("*.svg")}
different = sorted(name for name in today | committed if today.get(name) != committed.get(name))
for name in different:
    print(f"{folder / name} is not what {program} draws: run it with that folder", file=sys.stderr)
sys.exit(1 if different else 0)
