"""usage: check_png.py PICTURE COMMAND...: whether a picture is what a command draws today, which gets a file's name to write to.

Both are PNGs of three channels whose rows are not filtered, as the examples write them; what is compared are the pixels.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib


def pixels(path):
    data, at, packed, header = path.read_bytes(), 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        content = data[at + 8 : at + 8 + length]
        if zlib.crc32(kind + content) != struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0]:
            sys.exit(f"{path}: a {kind.decode()} chunk is damaged")
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", content)
        if kind == b"IDAT":
            packed += content
        at += 12 + length
    return header, zlib.decompress(packed)


picture = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    drawn = pathlib.Path(folder) / "drawn.png"
    subprocess.run([*sys.argv[2:], drawn], check=True)
    same = pixels(drawn) == pixels(picture)
if not same:
    sys.exit(f"{picture} is not what {' '.join(sys.argv[2:])} draws: run it with that file's name")
