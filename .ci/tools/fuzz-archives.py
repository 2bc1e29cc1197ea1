"""Writes the initial inputs of the fuzzer of archives: fuzz-archives.py FOLDER"""
import gzip, io, pathlib, sys, zipfile

folder = pathlib.Path(sys.argv[1])
museum = pathlib.Path("Fixtures/imdf/museum")


def write_zip(name, entries, **options):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", **options) as archive:
        for path, content in entries:
            archive.writestr(zipfile.ZipInfo(path), content, options.get("compression"))
    (folder / name).write_bytes(b"z" + data.getvalue())


write_zip("stored", [("venue.json", "{}"), ("plans/1.png", "plan")])
write_zip("deflated", [("office/venue.json", "{}" * 200), ("office/é.png", "plan")], compression=zipfile.ZIP_DEFLATED)
write_zip("outside", [("../venue.json", "{}"), ("/venue.json", "{}"), ("a\\b", "")])
write_zip("folders", [("a/", ""), ("./venue.json", "{}"), ("manifest.json", "")])
data = io.BytesIO()
with zipfile.ZipFile(data, "w") as archive:
    with archive.open(zipfile.ZipInfo("venue.json"), "w", force_zip64=True) as file:
        file.write(b"{}")
(folder / "zip64").write_bytes(b"z" + data.getvalue())
(folder / "gzip").write_bytes(b"g" + gzip.compress(b"[1, 2, 3]" * 20, mtime=0))

# All files of an archive, and those that an import requires.
files = sorted(museum.glob("*.*json"))
for name, chosen in [
    ("museum", files),
    ("smallest", [file for file in files if file.stem in ("manifest", "venue", "level", "footprint", "building", "address")]),
]:
    text = b"".join(b"@%s\n%s" % (file.stem.encode(), file.read_bytes()) for file in chosen)
    (folder / name).write_bytes(b"i" + text)
