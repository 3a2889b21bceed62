"""Hold the words of the embedded corpus ``toy`` in both languages, and their endings."""

from typing import NamedTuple

Tokens = tuple[str, ...]


class Noun(NamedTuple):
    """A noun in both languages; gender is ``m``, ``f`` or ``n``."""

    german: str
    german_plural: str
    gender: str
    english: str
    english_plural: str


class Verb(NamedTuple):
    """The forms of a verb that the grammar uses; a separable verb has its particle (``auf`` of ``aufheben``)."""

    infinitive: str
    first_singular: str
    third_singular: str
    participle: str
    english: str
    english_third: str
    english_past: str
    particle: str = ""


class Modal(NamedTuple):
    singular: str
    plural: str
    english: Tokens
    english_third: Tokens
    english_negated: Tokens
    english_third_negated: Tokens


#: Nouns that can be subjects.
ANIMATE = (
    Noun("Hund", "Hunde", "m", "dog", "dogs"),
    Noun("Freund", "Freunde", "m", "friend", "friends"),
    Noun("Lehrer", "Lehrer", "m", "teacher", "teachers"),
    Noun("Vogel", "Vögel", "m", "bird", "birds"),
    Noun("Arzt", "Ärzte", "m", "doctor", "doctors"),
    Noun("Frau", "Frauen", "f", "woman", "women"),
    Noun("Katze", "Katzen", "f", "cat", "cats"),
    Noun("Schwester", "Schwestern", "f", "sister", "sisters"),
    Noun("Kind", "Kinder", "n", "child", "children"),
    Noun("Pferd", "Pferde", "n", "horse", "horses"),
    Noun("Mädchen", "Mädchen", "n", "girl", "girls"),
)
THINGS = (
    Noun("Tisch", "Tische", "m", "table", "tables"),
    Noun("Apfelbaum", "Apfelbäume", "m", "apple tree", "apple trees"),
    Noun("Stadt", "Städte", "f", "town", "towns"),
    Noun("Blume", "Blumen", "f", "flower", "flowers"),
    Noun("Haustür", "Haustüren", "f", "front door", "front doors"),
    Noun("Straßenbahn", "Straßenbahnen", "f", "tram", "trams"),
    Noun("Haus", "Häuser", "n", "house", "houses"),
    Noun("Bild", "Bilder", "n", "picture", "pictures"),
    Noun("Schulbuch", "Schulbücher", "n", "school book", "school books"),
)
ADJECTIVES = (
    ("alt", "old"),
    ("klein", "small"),
    ("schön", "beautiful"),
    ("neu", "new"),
    ("rot", "red"),
    ("freundlich", "friendly"),
)
TRANSITIVE = (
    Verb("sehen", "sehe", "sieht", "gesehen", "see", "sees", "saw"),
    Verb("kennen", "kenne", "kennt", "gekannt", "know", "knows", "knew"),
    Verb("suchen", "suche", "sucht", "gesucht", "seek", "seeks", "sought"),
    Verb("finden", "finde", "findet", "gefunden", "find", "finds", "found"),
    Verb("malen", "male", "malt", "gemalt", "paint", "paints", "painted"),
    Verb("kaufen", "kaufe", "kauft", "gekauft", "buy", "buys", "bought"),
    Verb("anrufen", "rufe", "ruft", "angerufen", "call", "calls", "called", "an"),
    Verb("mitbringen", "bringe", "bringt", "mitgebracht", "bring", "brings", "brought", "mit"),
    Verb("abholen", "hole", "holt", "abgeholt", "fetch", "fetches", "fetched", "ab"),
)
INTRANSITIVE = (
    Verb("schlafen", "schlafe", "schläft", "geschlafen", "sleep", "sleeps", "slept"),
    Verb("arbeiten", "arbeite", "arbeitet", "gearbeitet", "work", "works", "worked"),
    Verb("warten", "warte", "wartet", "gewartet", "wait", "waits", "waited"),
    Verb("tanzen", "tanze", "tanzt", "getanzt", "dance", "dances", "danced"),
    Verb("zuhören", "höre", "hört", "zugehört", "listen", "listens", "listened", "zu"),
)
MODALS = (
    Modal("kann", "können", ("can",), ("can",), ("cannot",), ("cannot",)),
    Modal("muss", "müssen", ("have", "to"), ("has", "to"), ("do", "not", "have", "to"), ("does", "not", "have", "to")),
    Modal("soll", "sollen", ("should",), ("should",), ("should", "not"), ("should", "not")),
    Modal(
        "will", "wollen", ("want", "to"), ("wants", "to"), ("do", "not", "want", "to"), ("does", "not", "want", "to")
    ),
)
PREPOSITIONS = (("in", "in"), ("mit", "with"), ("neben", "next to"), ("hinter", "behind"))
ADVERBS = (("heute", "today"), ("jetzt", "now"), ("oft", "often"), ("manchmal", "sometimes"), ("dort", "there"))
CONJUNCTIONS = (("weil", "because"), ("wenn", "when"), ("obwohl", "although"))
OPINIONS = (("ich glaube", "I believe"), ("wir wissen", "we know"), ("sie sagt", "she says"))

#: Definite article by case, then by gender or plural (``p``).
DEFINITE = {
    "nominative": {"m": "der", "f": "die", "n": "das", "p": "die"},
    "accusative": {"m": "den", "f": "die", "n": "das", "p": "die"},
    "dative": {"m": "dem", "f": "der", "n": "dem", "p": "den"},
}
#: Endings of ein, mein, …; ``ein`` itself has no plural.
EIN_ENDINGS = {
    "nominative": {"m": "", "f": "e", "n": "", "p": "e"},
    "accusative": {"m": "en", "f": "e", "n": "", "p": "e"},
    "dative": {"m": "em", "f": "er", "n": "em", "p": "en"},
}
#: Adjective endings after der and after ein where they differ from -en.
WEAK_ENDINGS = {
    "nominative": {"m": "e", "f": "e", "n": "e"},
    "accusative": {"f": "e", "n": "e"},
    "dative": {},
}
MIXED_ENDINGS = {
    "nominative": {"m": "er", "f": "e", "n": "es"},
    "accusative": {"f": "e", "n": "es"},
    "dative": {},
}
