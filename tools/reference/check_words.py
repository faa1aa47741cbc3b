#!/usr/bin/env python3
"""usage: check_words.py FOLDER: fails when an enumerator or a friend function has no comment, of which Doxygen 1.9.4 does not
complain. FOLDER has what Doxygen wrote as XML."""

import pathlib
import sys
import xml.etree.ElementTree as xml


def has_words(element):
    texts = (element.find("briefdescription"), element.find("detaileddescription"))
    return any(text is not None and "".join(text.itertext()).strip() for text in texts)


def without_words(member):
    """What a memberdef of Doxygen's XML has no words for."""
    if member.get("prot") == "private":
        return
    if member.get("kind") == "enum":
        yield from (value for value in member.iter("enumvalue") if not has_words(value))
    is_function = (member.findtext("argsstring") or "").startswith("(")
    if member.get("kind") == "friend" and is_function and not has_words(member):
        yield member


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    complaints = set()
    for path in pathlib.Path(sys.argv[1]).glob("*.xml"):
        for member in xml.parse(path).iter("memberdef"):
            place = member.find("location")
            for nameless in without_words(member):
                owner = member.findtext("qualifiedname") or member.findtext("name")
                name = owner if nameless is member else f"{owner}::{nameless.findtext('name')}"
                complaints.add(f"{place.get('file')}:{place.get('line')}: {name} has no comment: say what it means")
    print("\n".join(sorted(complaints)), end="\n" if complaints else "", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
