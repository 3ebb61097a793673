# What a value in an evaluator's code may be, as ground_truth.py follows it: the event, its
# feedback, something else, or a word that is a key. Used by ground_truth.py only.
# Source: docs/spec.md, Evaluators; decision 23.

import re

KEY = "ground_truth"

# A value's kinds are a frozenset of these, of words, and of functions of the code's own.
EVENT, FEEDBACK, UNKNOWN = "the event", "its feedback", "unknown"
# Something that holds no ground truth: another bucket, a number, a text.
OTHER = "other"
OBJECT = "an object of a class of the code's own"
# Words: `ground_truth`, `feedback`, another bucket's name, and a path to the ground truth.
KEY_WORD, FEEDBACK_WORD, BUCKET_WORD, PATH_WORD = "#key", "#feedback", "#bucket", "#path"
WORDS = frozenset({KEY_WORD, FEEDBACK_WORD, BUCKET_WORD, PATH_WORD})

Kinds = frozenset
NOTHING: Kinds = frozenset()

OTHER_BUCKETS = ("inputs", "outputs", "metadata", "metrics", "config")
GLOBALS = {"event": EVENT, "feedback": FEEDBACK, **dict.fromkeys(OTHER_BUCKETS, OTHER)}

# feedback.ground_truth, feedback["ground_truth"], feedback/ground_truth, {event[feedback][…]}
PATH = re.compile(r"(\S*\W)?feedback['\"]?(\.get\(|[\].\[/?]+)['\"]?ground_truth(\W\S*)?")
# {{ x }}, {x}, ${x}, %(x)s, $x, <x>
PLACEHOLDER = re.compile(r"\{+\s*([^{}]+?)\s*\}+|%\(([^)]+)\)|\$([A-Za-z_]\w*)|<(\w+)>")


def words_of(text: str) -> Kinds:
    """The keys that a text is, or that its placeholders name; OTHER where there is none."""
    parts = [text, *(part for groups in PLACEHOLDER.findall(text) for part in groups if part)]
    return frozenset(map(word_of, parts)) - {OTHER} or frozenset({OTHER})


def word_of(text: str) -> str:
    if text == KEY:
        return KEY_WORD
    if text == "feedback":
        return FEEDBACK_WORD
    if text in OTHER_BUCKETS:
        return BUCKET_WORD
    return PATH_WORD if PATH.fullmatch(text) else OTHER


def is_key(kinds: Kinds) -> bool:
    return KEY_WORD in kinds or PATH_WORD in kinds


def is_event(kinds: Kinds) -> bool:
    return EVENT in kinds or FEEDBACK in kinds


def is_base(kinds: Kinds) -> bool:
    """Whether the ground truth may be found in it."""
    return is_event(kinds) or UNKNOWN in kinds


def union(*several: Kinds) -> Kinds:
    return NOTHING.union(*several)


def functions_in(kinds: Kinds) -> list:
    return [kind for kind in kinds if not isinstance(kind, str)]


def held(kinds: Kinds) -> Kinds:
    """What a list or dict of these is: words and functions show, what else it holds is hidden."""
    shown = frozenset(kind for kind in kinds if kind in WORDS or not isinstance(kind, str))
    if is_base(kinds) or OBJECT in kinds:
        return shown | {UNKNOWN}
    return shown | {OTHER}


def part_of(kinds: Kinds, key: Kinds) -> Kinds:
    """What `value[key]` may be."""
    parts: set = set()
    for kind in kinds:
        if kind in (EVENT, UNKNOWN):
            if FEEDBACK_WORD in key:
                parts.add(FEEDBACK)
            if not key & {FEEDBACK_WORD, BUCKET_WORD} or OTHER in key:
                parts.add(UNKNOWN)
            parts.add(OTHER)
        elif kind == FEEDBACK:
            parts.add(OTHER)
        else:
            parts.add(UNKNOWN if kind == OBJECT else kind)
    return frozenset(parts)
