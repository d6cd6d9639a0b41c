"""Write what is generated in README.md, docs/, examples/ and checkpoints/ anew, from code, results and manifests.

python -m training.docs
python -m training.docs --check

A generated part stands between `<!-- generated: NAME ARGUMENTS -->` and `<!-- end -->`; `BLOCKS` says what each is.
Files that are generated whole are those of `docs_files`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ice_envs.errors import IceError, choose
from ice_envs.files import replacing
from training import ROOT, command_line, docs_ablations, docs_agents, docs_code, docs_ladder, docs_results
from training.docs_files import whole_files

MARKS = re.compile(r"<!-- generated: (.+?) -->\n.*?<!-- end -->", re.DOTALL)
OPENING = "<!-- generated:"


@dataclass(frozen=True)
class DocsSettings:
    """What to do."""

    check: bool = False
    """Write nothing; exit with 1 if a page is not what would be written."""


def main(settings: DocsSettings) -> int:
    """Write the pages, or say which are out of date; return the exit code."""
    outdated = 0
    for file, after in contents().items():
        if file.is_file() and file.read_text(encoding="utf-8") == after:
            continue
        outdated += 1
        name = file.relative_to(ROOT)
        if settings.check:
            print(f"{name} is not what the code and docs/results say: run python -m training.docs")
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as partial:
            partial.write_text(after, encoding="utf-8", newline="\n")
        print(f"wrote {name}")
    if not outdated:
        print("All that is generated is up to date.")
    return int(settings.check and outdated > 0)


def contents() -> dict[Path, str]:
    """Return what each generated file, and each page with generated parts, should hold."""
    filled_pages = {page: filled(page.read_text(encoding="utf-8"), page) for page in pages()}
    return filled_pages | whole_files(ROOT)


def pages() -> list[Path]:
    """Return the pages that may have generated parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str, page: Path) -> str:
    """Return the text with its generated parts written anew; raise IceError for a part that is not known or open."""
    if len(MARKS.findall(text)) != text.count(OPENING):
        raise IceError(f"{page.name} has a line '{OPENING} …' without '<!-- end -->' before the next")
    return MARKS.sub(lambda found: f"{OPENING} {found[1]} -->\n\n{block(found[1], page)}\n\n<!-- end -->", text)


def block(words: str, page: Path) -> str:
    """Return one generated part."""
    name, *arguments = words.split()
    return BLOCKS[choose(f"generated part in {page.name}:", name, BLOCKS)](*arguments)


PARTS = (*docs_code.PARTS, *docs_results.PARTS, *docs_ladder.PARTS, *docs_agents.PARTS, *docs_ablations.PARTS)
BLOCKS: dict[str, Callable[..., str]] = {part.__name__: part for part in PARTS}
"""The generated parts, by the name in the mark."""


if __name__ == "__main__":
    command_line.run(main, DocsSettings, "training.docs")
