#!/usr/bin/env python3
"""usage: check_links.py ROOT: every relative link in the project's Markdown pages leads to a file."""

import re
import sys
from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)  # where a lambda looks like a link


def links(page):
    return LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))


def main():
    root = Path(sys.argv[1]).resolve()
    pages = [page for pattern in ("*.md", "docs/**/*.md", "softgpu/**/*.md", "tests/**/*.md") for page in root.glob(pattern)]
    broken = [f"{page.relative_to(root)}: {link}" for page in pages
              for link in links(page)
              if "://" not in link and not (page.parent / link).exists()]
    print("\n".join(broken) if broken else f"{len(pages)} pages have no broken link")
    sys.exit(1 if broken or not pages else 0)


if __name__ == "__main__":
    main()
