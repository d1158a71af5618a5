"""Function words: a query drops them when other words remain, but for those that are written as names."""

from __future__ import annotations

import re

__all__ = ["ENGLISH", "GLUE", "NAME"]

ENGLISH_WORDS = (
    "a about above after again all also am an and any are aren as at be because been before being below between both "
    "but by can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn "
    "has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll "
    "m me might more most must my myself no nor not now of off on once only or other our ours ourselves out over own "
    "re s same shall she should shouldn so some such t than that the their theirs them themselves then there these "
    "they this those through to too under until up us ve very was wasn we were weren what when where which while who "
    "whom whose why will with would wouldn you your yours yourself yourselves"
)
ENGLISH = frozenset(ENGLISH_WORDS.split())
# Written as a name: in capitals (US, WHO), with a capital inside a sentence, and Will where no question begins with it.
NAME = re.compile(
    r"(?<![A-Za-z])(?:[A-Z]{2,}|(?<=[^.!?:] )[A-Z][a-z]+|Will(?=['’]s | (?!(?:"
    + "|".join(sorted(ENGLISH))
    + r")\b)[a-z]))(?![A-Za-z])"
)
# Longest first: a run of Chinese is cut at these. Characters that are often part of words (在, 和, 有) are not here.
GLUE = re.compile(
    "在哪里|在哪儿|为什么|怎么样|是不是|有没有|什么|怎么|怎样|哪里|哪儿|哪个|哪些|多少|如何|是否|能否|请问|我们|你们|他们|她们|它们"
    "|这个|那个|这些|那些|[的了吗呢吧啊呀嘛是我你他她它这那谁]"
)
