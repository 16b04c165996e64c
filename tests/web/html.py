"""Pages as a strict parser reads them."""

from functools import lru_cache
from xml.etree import ElementTree

import html5lib


@lru_cache(maxsize=16)
def parsed_text(text: str) -> ElementTree.Element:
    """The tree of a page: any mistake in the HTML raises. The last pages are kept, since a test asks them much."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree: ElementTree.Element = parser.parse(text)
    return tree
