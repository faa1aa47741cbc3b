"""Reads the Python snippets of the documents that describe cuda.core, as they are stored: three of them have lost their
code's line breaks or indentation on the way, which is put back here.

`snippets_of` finds what kind of text it has before it:

- fenced blocks (Markdown) and ``.. code-block::`` (reStructuredText) are taken as they are;
- a page saved as one line has no line breaks in its fenced blocks: `split_statements`;
- a page saved as plain text has neither fences nor indentation: `code_in_prose` and `indent_again`.
"""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Snippet:
    """One piece of code, and under which heading it stands."""

    heading: str
    code: str


def snippets_of(text: str) -> list[Snippet]:
    """All Python snippets of a document, in order."""
    if "```python" in text:
        flat = text.count("\n") < 10
        return [Snippet(heading, split_statements(code) if flat else code) for heading, code in fenced(text)]
    if ".. code-block:: python" in text:
        return code_blocks(text)
    return [Snippet(heading, indent_again(lines)) for heading, lines in code_in_prose(text)]


def fenced(text: str) -> list[tuple[str, str]]:
    found = []
    for match in re.finditer(r"```python\s(.*?)```", text, re.S):
        headings = re.findall(
            r"#{2,3} ([A-Z][\w.:() -]+?)(?=\n| (?:The|Streams|Events|CUDA|For|Resources)\b)", text[: match.start()]
        )
        found.append((headings[-1].strip() if headings else "", match[1]))
    return found


def code_blocks(text: str) -> list[Snippet]:
    found = []
    for match in re.finditer(r"^\.\. code-block:: python\n\n((?:   .*\n|\s*\n)+)", text, re.M):
        headings = re.findall(r"^(.+)\n[-=]{4,}$", text[: match.start()], re.M)
        found.append(Snippet(headings[-1] if headings else "", textwrap.dedent(match[1])))
    return found


# ---- One line again into statements ---------------------------------------------------------------------------------

# How a statement begins. A word of prose is none of these, in the comments at hand.
STATEMENT = re.compile(
    r"(?:from [\w.]+ import |import \w+|print\(|pass\b|[A-Za-z_]\w*(?:, \w+)* = |[A-Za-z_]\w*(?:\.\w+)+\(|launch\("
    r"|with [\w.]+\(|for \w+ in |if [\w.]+\()"
)
# How an argument begins behind a comment: name=, a string, a tuple, a dotted name, or the end of the call.
ARGUMENT = re.compile(r"""(?:\w+=(?!=)|\(?"|[a-z]\w*(?:\.\w+)+[,)]|cp\.\w+\(|[)\]}])""")


def split_statements(text: str) -> str:
    """`text`, a program on one line, as a program: comments and statements on lines of their own."""
    lines: list[str] = []
    rest = text.strip()
    while rest:
        if rest.startswith("#"):
            comment, rest = split_comment(rest, STATEMENT)
            lines.append(comment)
            continue
        statement, rest = first_statement(rest)
        if statement.endswith(":"):  # the body of each block at hand is one statement
            while rest.startswith("#"):
                _, rest = split_comment(rest, STATEMENT)
            body, rest = first_statement(rest)
            statement += f"\n    {body}"
        lines.append(statement)
    return "\n".join(lines) + "\n"


def split_comment(text: str, begin: re.Pattern[str]) -> tuple[str, str]:
    for match in re.finditer(r"(?<=\s)\S", text):
        if text[match.start()] == "#" or begin.match(text, match.start()):
            return text[: match.start()].strip(), text[match.start() :]
    return text.strip(), ""


def first_statement(text: str) -> tuple[str, str]:
    """The first statement of `text`, without comments, and what follows it."""
    statement = ""
    position = depth = 0
    while position < len(text):
        end = end_of_token(text, position)
        token = text[position:end]
        if token == "#":
            if depth == 0:
                return statement.strip(), text[position:]
            comment, rest = split_comment(text[position:], ARGUMENT)
            position = len(text) - len(rest)
            continue
        depth += (token in "([{") - (token in ")]}")
        statement += token
        position = end
        following = text[position:].lstrip()
        if (
            depth == 0
            and text[position : position + 1].isspace()
            and STATEMENT.match(following)
            and is_complete(statement)
        ):
            return statement.strip(), following
    return statement.strip(), ""


def end_of_token(text: str, position: int) -> int:
    """Where the token at `position` ends: a string literal, a word, or one character."""
    literal = re.compile(r'\w{0,2}"""(?s:.*?)"""|\w{0,2}"(?:\\.|[^"\\])*"|\w{0,2}\'(?:\\.|[^\'\\])*\'|\w+').match(
        text, position
    )
    return literal.end() if literal else position + 1


def is_complete(statement: str) -> bool:
    statement = statement.strip()
    try:
        ast.parse(statement + " pass" if statement.endswith(":") else statement)
    except SyntaxError:
        return False
    return True


# ---- Prose without fences, code without indentation ------------------------------------------------------------------


def code_in_prose(text: str) -> list[tuple[str, list[str]]]:
    """Runs of lines that are Python, with the heading ("Streams#") above each."""
    found: list[tuple[str, list[str]]] = []
    heading = ""
    run: list[str] = []
    quoted = False  # within a string of several lines
    for line in [*text.splitlines(), "The end."]:
        if quoted or looks_like_code(line, bool(run)):
            run.append(line)
            quoted ^= line.count('"""') % 2 == 1
            continue
        if not line.strip() and run:
            run.append(line)
            continue
        if is_program(run):
            found.append((heading, run))
        run = []
        if line.endswith("#"):
            heading = line[:-1]
    return found


def is_program(lines: list[str]) -> bool:
    """Whether it is more than a name or a call that prose is about."""
    statements = [line for line in lines if not is_comment(line)]
    return len(statements) > 1 or any(re.match(r"(?:from|import)\b|\w+ = ", line) for line in statements)


def is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


CODE = re.compile(
    r"""(?: \s*\#\s[A-Z]                                   # a comment
        | (?:from\s[\w.]+\simport|import\s\w+)\b
        | [a-z_]\w*(?:\[[^\]]*\])?\s=\s                     # an assignment
        | [a-z_][\w.]*\(.*\)\s*(?:\#.*)?$                  # a call
        | (?:assert|print|return)\b.*
        | (?:try|else)\s*:$ | except\b.*:$
        | (?:for|with|class|def|if)\b.*:$
        | @\w+ | \.\.\.(?:\s|$) | Program\(.*
        | [a-z]\w*(?:\.\w+)+\s*=\s
    )""",
    re.X,
)


def looks_like_code(line: str, within: bool) -> bool:
    if not CODE.match(line):
        return False
    return within or not is_comment(line) or line.startswith("# ")


def indent_again(lines: list[str]) -> str:
    """The program whose lines lost their indentation. The body of a block is the lines up to what can't be in it: one
    statement of `for`, `with` and `except`, up to `except` of `try`, functions of a class, and of a function all up to
    its `return`, a comment, or the next function."""
    result: list[str] = []
    blocks: list[str] = []  # the words that opened the blocks that we are in
    statements = 0  # of the innermost block
    quoted = False
    for line in lines:
        text = line.strip()
        if quoted:
            result.append(line)
            quoted ^= line.count('"""') % 2 == 1
            continue
        word = re.match(r"@?\w*", text)[0]  # type: ignore[index]
        while blocks and closes(blocks[-1], word, text, statements):
            blocks.pop()
            statements = 1
        result.append("    " * len(blocks) + text)
        quoted ^= text.count('"""') % 2 == 1
        statements += bool(text)
        if text.endswith(":") and not is_comment(text):
            blocks.append(word)
            statements = 0
        elif word == "return":
            blocks.pop()
    return "\n".join(result) + "\n"


def closes(block: str, word: str, text: str, statements: int) -> bool:
    """Whether a line that begins with `word` is behind the innermost block, which `block` opened."""
    if block == "try":
        return word == "except"
    if block == "class":
        return word != "def" and bool(text)
    if block == "def":
        return word == "def" or text.startswith("#")
    return statements >= 1  # for, with, except, if
