"""The parser of replies: what is a yes, what is a no, and what is neither, in every language of the options."""

from itertools import product
import json
from pathlib import Path
from time import perf_counter

import pytest

from custom_components.extended_assist.calls.caller import Caller
from custom_components.extended_assist.calls.plan import Part, Plan, Step
from custom_components.extended_assist.confirmation.question import AskedCall, OpenQuestion
from custom_components.extended_assist.confirmation.reply_parser import AskedWords, Reply, asked_words, parse_reply
from custom_components.extended_assist.confirmation.wording import LANGUAGES, words_for
from homeassistant.helpers import llm
from tests.helpers.talking import LOOK_LIKE_YES

PACKAGE = Path("custom_components/extended_assist")
HERE = Path(__file__).parent
UNLOCK = {
    "de": "Schloss entriegeln: Haustür",
    "en": "Unlock: Front Door",
    "es": "Desbloquear: Puerta principal",
    "fr": "Déverrouiller: Porte d'entrée",
    "it": "Sblocca: Porta d'ingresso",
    "ko": "잠금 해제: 현관문",
    "nl": "Ontgrendelen: Voordeur",
    "pl": "Odblokuj: Drzwi wejściowe",
    "pt-BR": "Destrancar: Porta da frente",
    "zh-Hans": "解锁: 前门",
}
"""The line of a question about the front door."""

MESSAGES: dict[str, dict[str, list[str]]] = json.loads((HERE / "replies.json").read_text("utf-8"))
TABLE = [
    (Reply(reply), language, message)
    for reply, table in MESSAGES.items()
    for language, messages in table.items()
    for message in messages
]
LISTED: dict[str, dict[str, list[str]]] = json.loads((PACKAGE / "confirmation/replies.json").read_text("utf-8"))
IN_A_NAME = [
    ("Guten Morgen Tür", "Ja, morgen", "de"),
    ("Guten Morgen Tür", "Ja bitte, guten Morgen", "de"),
    ("Later Lock", "Yes, later", "en"),
    ("Tomorrow Gate", "Yes, tomorrow", "en"),
    ("Wait Here Door", "Yes, wait", "en"),
    ("What If Room", "yes if", "en"),
    ("But First Door", "yes but door", "en"),
    ("But First Door", "yes, unlock, but door", "en"),
    ("Tomorrow Gate", "yes, unlock the gate tomorrow", "en"),
    ("Porte Demain", "oui, demain", "fr"),
]


def phrases(language: str) -> dict[str, list[str]]:
    """Return phrases that were written apart from the parser."""
    data: dict[str, list[str]] = json.loads((HERE / "phrases" / f"{language}.json").read_text("utf-8"))
    return data


def names(language: str) -> list[dict[str, str]]:
    """Return names of devices that hold words which end a yes, each with an answer made of them."""
    data: list[dict[str, str]] = json.loads((HERE / "phrases" / f"{language}.json").read_text("utf-8"))["names"]
    return data


def front_door(language: str) -> AskedWords:
    """Return the words of a question about the front door."""
    return asked_words("lock.unlock", [UNLOCK[language]])


@pytest.mark.parametrize(("reply", "language", "message"), TABLE)
def test_parse_reply(reply: Reply, language: str, message: str) -> None:
    """A clear yes, a clear no, and everything else."""
    assert parse_reply(message, language) is reply


@pytest.mark.parametrize(("message", "language"), LOOK_LIKE_YES)
def test_what_looks_like_a_yes(message: str, language: str) -> None:
    """Enough, hesitation, thanks that decline: none of it opens a door."""
    assert parse_reply(message, language, front_door(language)) is not Reply.YES


@pytest.mark.parametrize(("name", "message", "language"), IN_A_NAME)
def test_a_name_that_holds_such_a_word(name: str, message: str, language: str) -> None:
    """Words of time, condition and contrast end a yes, even where the question holds them."""
    title = UNLOCK[language].partition(":")[0]
    assert parse_reply(message, language, asked_words("lock.unlock", [f"{title}: {name}"])) is not Reply.YES


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_no_false_yes(language: str) -> None:
    """None of the phrases is a yes, whatever the lock is called."""
    title, written = UNLOCK[language].partition(":")[0], phrases(language)
    calm = [AskedWords(), front_door(language)]
    odd = [asked_words("lock.unlock", [f"{title}: {one['name']}"]) for one in names(language)]
    messages = [*written["not_yes"], *(one["answer"] for one in names(language))]
    assert len(messages) > 120
    wrong = {m for m in messages for asked in (*calm, *odd) if parse_reply(m, language, asked) is Reply.YES}
    assert wrong == set()


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_most_yeses_are_parsed(language: str) -> None:
    """A yes that is missed costs a second question, so few are: at most 15 of 100. None of them is a refusal."""
    yes = phrases(language)["yes"]
    replies = [parse_reply(message, language, front_door(language)) for message in yes]
    assert len(yes) > 110
    assert replies.count(Reply.YES) / len(yes) >= 0.85
    assert replies.count(Reply.NO) <= 2


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_the_lists_agree(language: str) -> None:
    """Each phrase that is listed as a yes is one by itself; what stands before or beside one is none alone."""
    listed, asked = LISTED[language], AskedWords(kinds=frozenset({"unlock", "unlock_door"}))
    yes, command = listed["yes"][0], listed["command"][0]
    agree = [
        *(one for kind in ("yes", "emphasis", "consent", "command", "unlock", "unlock_door") for one in listed[kind]),
        *(f"{yes}, {one}" for kind in ("please", "thanks", "now") for one in listed[kind]),
        *(f"{one}, {command}" for one in listed["opener"]),
    ]
    assert [message for message in agree if parse_reply(message, language, asked) is not Reply.YES] == []
    beside = {one for kind in ("opener", "please", "thanks", "now", "article") for one in listed[kind]}
    for message in (*listed["lookalike"], *sorted(beside - {*agree, *listed["yes_at_start"]})):
        assert parse_reply(message, language, asked) is not Reply.YES, message
    for kind in ("unlock", "unlock_door"):
        assert [one for one in listed[kind] if parse_reply(one, language) is Reply.YES] == []


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_lookalike_ends_a_yes(language: str) -> None:
    """Before a yes or after it, and where the question holds its words."""
    listed = LISTED[language]
    words = frozenset(word for one in listed["lookalike"] for word in one.casefold().split())
    asked = AskedWords(words, frozenset((word,) for word in words))
    agree = [listed["yes"][0], listed["emphasis"][0], listed["consent"][0], listed["command"][0]]
    longer = [phrase for kind in ("yes", "emphasis", "consent", "command", "opener") for phrase in listed[kind]]
    for yes, lookalike in product(agree, listed["lookalike"]):
        for message in (f"{yes} {lookalike}", f"{yes}, {lookalike}", f"{lookalike}, {yes}"):
            plain = message.replace(",", "")
            if not any(plain in phrase or phrase.startswith(lookalike) for phrase in (*longer, *LISTED["en"]["yes"])):
                assert parse_reply(message, language, asked) is not Reply.YES, message


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_marks_that_end_a_yes(language: str) -> None:
    """A question mark in any script, other marks that are more than a statement, and characters that cannot be seen."""
    questions = "?\uff1f\u00bf\u061f\u037e\u203d\u2047\u2048\u2753\ufe56\u055e\u1367"
    others = '\U0001f914\U0001f644:;()"/\u200b\u202e'
    for yes, mark in product(MESSAGES["yes"][language][:3], questions + others):
        assert parse_reply(f"{yes.rstrip('.!')}{mark}", language) is not Reply.YES, mark
        assert parse_reply(f"{mark}{yes}", language) is not Reply.YES, mark


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_yes_that_is_broken_off(language: str) -> None:
    """An ellipsis in any form, a comma and a dash at the end hesitate."""
    ends = ["...", "..", ". . .", "\u2026", "\u22ef", "\u3002\u3002", ",", "\u3001", "-", " \u2014"]
    for yes, end in product(MESSAGES["yes"][language][:3], ends):
        assert parse_reply(f"{yes.rstrip('.!')}{end}", language) is not Reply.YES, end


@pytest.mark.parametrize(
    ("message", "language", "reply"),
    [
        ("yesss", "en", Reply.YES),
        ("yeeees", "en", Reply.OTHER),
        ("Jaaa", "de", Reply.OTHER),
        ("ouiii", "fr", Reply.OTHER),
        ("好好好", "zh-Hans", Reply.OTHER),
        ("네네네", "ko", Reply.OTHER),
        ("nooooo", "en", Reply.NO),
    ],
)
def test_drawn_out_letters(message: str, language: str, reply: Reply) -> None:
    """A drawn-out vowel hesitates, and a syllable said three times may be ironic; a drawn-out no refuses."""
    assert parse_reply(message, language) is reply


@pytest.mark.parametrize(
    ("message", "language", "reply"),
    [
        ("Por favor, sí", "es", Reply.YES),
        ("Por supuesto, sí", "es", Reply.YES),
        ("Si, por favor", "es", Reply.YES),
        ("Por supuesto, si", "es", Reply.OTHER),
        ("Sí, si", "es", Reply.OTHER),
        ("Certamente, sì", "it", Reply.YES),
        ("Certamente, si", "it", Reply.OTHER),
    ],
)
def test_an_accent_tells_a_yes_from_an_if(message: str, language: str, reply: Reply) -> None:
    """Without its accent, it is a yes at the beginning alone."""
    assert parse_reply(message, language) is reply


def test_english_words_that_mean_something_else() -> None:
    """English counts in every language, except for words of its own."""
    for language in LANGUAGES:
        assert parse_reply("Yes, please", language) is Reply.YES
    assert parse_reply("sure", "en") is Reply.YES
    assert parse_reply("Sûre", "fr") is not Reply.YES
    assert parse_reply("Fine.", "it") is Reply.NO


def test_the_languages_are_those_of_the_translations() -> None:
    """Questions and replies know each language of the options."""
    assert {path.stem for path in (PACKAGE / "translations").glob("*.json")} == LANGUAGES
    assert LISTED.keys() == LANGUAGES
    for language in LANGUAGES:
        words = words_for(language)
        assert words
        assert words.keys() == (words_for("en") or {}).keys()
        assert words["shall"].endswith(("?", "\uff1f"))
        assert LISTED[language].keys() == LISTED["en"].keys()


def test_no_word_is_a_yes_and_a_no() -> None:
    """Whatever follows it, a refusal agrees to nothing, in any language together with English."""
    for language, no in product(LANGUAGES, ("no", "stop", "cancel", "don't")):
        assert parse_reply(no, language) is Reply.NO
        for yes in MESSAGES["yes"][language][:3]:
            assert parse_reply(f"{no}, {yes}", language) is not Reply.YES
            assert parse_reply(f"{yes}, {no}", language) is not Reply.YES


@pytest.mark.parametrize(
    ("action", "line", "language", "message", "reply"),
    [
        ("lock.unlock", "Unlock: Front Door Lock", "en", "Yes, unlock the front door", Reply.YES),
        ("lock.unlock", "Unlock: Front Door Lock", "en", "Yes, lock the front door", Reply.OTHER),
        ("lock.unlock", "Unlock: Front Door Lock", "en", "Yes, open the front door", Reply.YES),
        ("lock.unlock", "Unlock: Front Door Lock", "en", "Yes, open the back door", Reply.OTHER),
        ("lock.unlock", "Unlock: Gun Cabinet", "en", "Yes, open it", Reply.YES),
        ("lock.unlock", "Unlock: Gun Cabinet", "en", "Yes, open the door", Reply.OTHER),
        ("lock.open", "Open: Front Door", "en", "yes, open it", Reply.YES),
        ("lock.lock", "Lock: Front Door", "en", "yes, open it", Reply.OTHER),
        ("cover.open_cover", "Open cover: Close-up blind", "en", "ok, close the blind", Reply.OTHER),
        ("cover.open_cover", "Open cover: Hall Window", "en", "yes, open the door", Reply.OTHER),
        ("light.turn_on", "Turn on: Good Night", "en", "Yes, good night", Reply.OTHER),
        ("light.turn_on", "Turn on: Party Light", "en", "Yes, party light", Reply.OTHER),
        ("light.turn_on", "Turn on: Party Light", "en", "Yes, turn on the party light", Reply.YES),
        ("notify.send", "Send: Phone, message do not stop", "en", "yes, do not send it", Reply.OTHER),
        ("lock.unlock", "解锁: 前门", "zh-Hans", "好 锁前门", Reply.OTHER),
        ("lock.unlock", "解锁: 前门", "zh-Hans", "好 开门吧", Reply.YES),
        ("lock.unlock", "잠금 해제: 문", "ko", "네, 문 잠금", Reply.OTHER),
        ("lock.unlock", "Schloss entriegeln: Haustür", "de", "Ja, Haustür entriegeln", Reply.YES),
        ("lock.unlock", "Schloss entriegeln: Haustür", "de", "Ja, mach die Tür auf", Reply.YES),
        ("lock.unlock", "Schloss entriegeln: Haustür", "de", "Ja, sperr ab", Reply.OTHER),
        ("lock.lock", "Schloss verriegeln: Haustür", "de", "Ja, mach auf", Reply.OTHER),
    ],
)
def test_what_a_yes_may_repeat(action: str, line: str, language: str, message: str, reply: Reply) -> None:
    """The words of the question with its action, but none that could say the opposite or mean something else."""
    assert parse_reply(message, language, asked_words(action, [line])) is reply


@pytest.mark.parametrize(
    "words", ["yes ", "please ", "word ", "no problem ", "yes yes please ", "好啊", "a", "né", "的"]
)
def test_long_messages_are_parsed_at_once(words: str) -> None:
    """They are no clear yes, and take no longer than short ones."""
    begun = perf_counter()
    asked = AskedWords(frozenset({"word"}), frozenset({("word",)}))
    assert parse_reply(words * 200_000, "zh-Hans", asked) is not Reply.YES
    parse_reply(words * (9_000 // len(words)), "zh-Hans", asked)
    parse_reply(words * (190 // len(words)), "zh-Hans", asked)
    assert perf_counter() - begun < 2


@pytest.mark.parametrize(
    ("tag", "known"),
    [("de-AT", True), ("pt", True), ("en_GB", True), ("zh-CN", True), ("zh-Hant", False), ("sv", False)],
)
def test_tags(tag: str, known: bool) -> None:
    """A tag means its language; replies are parsed in traditional Chinese, questions are not asked in it."""
    assert (words_for(tag) is not None) is known
    assert parse_reply("好", "zh-Hant") is Reply.YES


def question_about(step: Step) -> OpenQuestion:
    """Return a question about one step."""
    asked = AskedCall("1", Plan((step,), step.words), [step.words], [], "", [])
    caller = Caller(llm.LLMContext("test", None, "en", "conversation", None))
    return OpenQuestion([asked], caller, 1, 0.0, None, 1)


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Yes, send it", Reply.YES),
        ("Yes, send the message", Reply.YES),
        ("Yes, but only tomorrow", Reply.OTHER),
        ("Yes, after dinner", Reply.OTHER),
        ("Yes, instead of Anna", Reply.OTHER),
    ],
)
def test_free_text_is_not_repeated(message: str, reply: Reply) -> None:
    """The words of a message say nothing of what a yes means, whoever chose them."""
    text = "But dinner is only tomorrow, after six, instead of today. Anna"
    words = f"Send message: Phone (notify.send_message), message {text}"
    step = Step("notify.send_message", ("notify.phone",), {"message": text}, words)
    assert question_about(step).reply(message, "en") is reply


@pytest.mark.parametrize(
    ("frame", "words", "message", "reply"),
    [
        ((), "Unlock: Front Door (lock.unlock)", "Yes, unlock the front door", Reply.YES),
        ((("at", "23:00"),), "At 23:00: Unlock: Front Door (lock.unlock)", "Yes, unlock the front door", Reply.OTHER),
        ((("at", "23:00"),), "At 23:00: Unlock: Front Door (lock.unlock)", "Yes, at 23:00", Reply.OTHER),
        ((("at", "23:00"),), "At 23:00: Unlock: Front Door (lock.unlock)", "Yes, please", Reply.YES),
    ],
)
def test_a_time_is_not_repeated(frame: tuple[tuple[str, str], ...], words: str, message: str, reply: Reply) -> None:
    """Without the time that was asked about, a repetition could mean now."""
    step = Step("lock.unlock", ("lock.front_door",), {}, words, frame)
    assert question_about(step).reply(message, "en") is reply


@pytest.mark.parametrize(
    "message", ["y\u0336e\u0336s\u0336", "yes\u0338", "'yes'", "`yes`", "ye\u034fs", "yes\ufe0e", "yes'", "\u02bcyes"]
)
def test_yes_in_marks(message: str) -> None:
    """What is struck out, quoted, or written with characters that cannot be seen is no yes."""
    assert parse_reply(message, "en") is not Reply.YES


@pytest.mark.parametrize(
    ("message", "language", "line"),
    [
        ("Yes, unlock in 10", "en", "Unlock: Drive In Gate 10"),
        ("Yes, unlock at 5", "en", "Unlock: Gate at Pier 5"),
        ("Yes, unlock at dinner", "en", "Unlock: Dinner Room at Pier"),
        ("Ja, entriegeln in 10", "de", "Entriegeln: Tor in Halle 10"),
        ("Ja, entriegeln ab 7", "de", "Entriegeln: Tor ab Halle 7"),
        ("Sí, desbloquear a las 7", "es", "Desbloquear: Puerta a las Naves 7"),
        ("Oui, déverrouiller à 7", "fr", "Déverrouiller: Portail à Lyon 7"),
        ("Oui, déverrouiller dans 7", "fr", "Déverrouiller: Portail dans Hall 7"),
        ("Sì, sblocca alle 7", "it", "Sblocca: Cancello alle Ville 7"),
        ("Ja, ontgrendelen over 10", "nl", "Ontgrendelen: Poort over Sloot 10"),
        ("Tak, odblokuj za 10", "pl", "Odblokuj: Brama za Domem 10"),
        ("Sim, destrancar às 7", "pt-BR", "Destrancar: Portão às Margens 7"),
        ("Yes, unlock at 5", "en", "Unlock: At 5"),
        ("Yes, unlock at dinner", "en", "Unlock: At Dinner Lock"),
        ("Ja, entriegeln um 7", "de", "Entriegeln: Um 7"),
        ("Sí, desbloquear a las 7", "es", "Desbloquear: A las 7"),
        ("Yes, unlock 7", "en", "Unlock: 7"),
    ],
)
def test_yes_at_another_time(message: str, language: str, line: str) -> None:
    """Words of a name that say when, together with its number, do not make a yes for later one for now."""
    assert parse_reply(message, language, asked_words("lock.unlock", [line])) is not Reply.YES


@pytest.mark.parametrize(
    ("message", "line", "is_yes"),
    [
        ("Yes, set position 5", "Set position: Gate 5, position 50", False),
        ("Yes, set position 50", "Set position: Gate 5, position 50", True),
        ("Yes, set gate 5, position 50", "Set position: Gate 5, position 50", True),
        ("Yes, set 50", "Set position: Gate 5, position 50", False),
        ("Yes, set position 5", "Set position: Position 5, position 50", False),
        ("Yes, set temperature 5", "Set temperature: Boiler, temperature -5", False),
        ("Yes, set temperature 5", "Set temperature: Boiler, temperature 20.5", False),
        ("Yes, set color 2", "Set color: Lamp, color [1, 2, 3]", False),
    ],
)
def test_yes_to_another_value(message: str, line: str, is_yes: bool) -> None:
    """A yes that names another value than was asked about is none."""
    asked = asked_words("cover.set_cover_position", [line])
    assert (parse_reply(message, "en", asked) is Reply.YES) is is_yes


@pytest.mark.parametrize(
    ("message", "language", "action", "line"),
    [
        ("Yes, open and shut", "en", "cover.open_cover", "Open: Shut-in Garage"),
        ("Ja, öffnen, schließen", "de", "cover.open_cover", "Öffnen: Tor Schließen"),
        ("Ja, entriegeln, zu", "de", "lock.unlock", "Entriegeln: Tür zu Halle"),
        ("Oui, ouvrir, fermer", "fr", "cover.open_cover", "Ouvrir: Bouton Fermer"),
        ("Ja, öffnen, schließen", "de", "cover.open_cover", "Öffnen: Schließen"),
        ("Yes, close cover", "en", "cover.open_cover", "Open cover: Close Cover"),
        ("Yes, turn off light", "en", "light.turn_on", "Turn on: Off Light"),
        ("Sì, apri, chiudi", "it", "cover.open_cover", "Apri: Chiudi"),
    ],
)
def test_yes_with_the_opposite(message: str, language: str, action: str, line: str) -> None:
    """A word of a name that says the opposite direction does not count, in any language."""
    assert parse_reply(message, language, asked_words(action, [line])) is not Reply.YES


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Si procede", "es"),
        ("Si puedes", "es"),
        ("Si confirma", "es"),
        ("Si abre la puerta", "es"),
        ("si lo quiero", "es"),
        ("Si ahora", "es"),
        ("Si conferma", "it"),
        ("Si apri la porta", "it"),
        ("Si sblocca", "it"),
    ],
)
def test_yes_if(message: str, language: str) -> None:
    """A condition is no yes in Spanish and Italian, where only an accent tells it from one."""
    assert parse_reply(message, language, front_door(language)) is not Reply.YES


@pytest.mark.parametrize(
    ("line", "language", "is_door"),
    [
        ("Unlock: Outdoor Cabinet", "en", False),
        ("Unlock: Indoor Safe", "en", False),
        ("Schloss entriegeln: Turm", "de", False),
        ("Schloss entriegeln: Natur Safe", "de", False),
        ("Schloss entriegeln: Haustür", "de", True),
        ("Schloss entriegeln: Türschloss", "de", True),
        ("Ontgrendelen: Voordeur", "nl", True),
        ("잠금 해제: 현관문", "ko", True),
        ("잠금 해제: 창문", "ko", False),
        ("解锁: 前门锁", "zh-Hans", True),
    ],
)
def test_words_for_a_door(line: str, language: str, is_door: bool) -> None:
    """A lock is a door's where its name says so in a whole word, or at the end of a compound."""
    asked = asked_words("lock.unlock", [line])
    assert ("unlock_door" in asked.kinds) is is_door
    assert (parse_reply(LISTED[language]["unlock_door"][0], language, asked) is Reply.YES) is is_door


@pytest.mark.parametrize(
    ("message", "line", "reply"),
    [
        ("Yes, unlock drive in gate 10", "Unlock: Drive In Gate 10", Reply.OTHER),
        ("Yes, unlock the garage gate", "Unlock: Garage Gate", Reply.YES),
        ("Yes, unlock the gate", "Unlock: Garage Gate", Reply.OTHER),
        ("Yes, unlock the gate garage", "Unlock: Garage Gate", Reply.OTHER),
        ("Yes, unlock gate 5", "Unlock: Gate 5", Reply.YES),
        ("Yes, unlock 5", "Unlock: Gate 5", Reply.OTHER),
    ],
)
def test_a_name_is_repeated_whole(message: str, line: str, reply: Reply) -> None:
    """Parts of a name, or its words in another order, repeat nothing."""
    assert parse_reply(message, "en", asked_words("lock.unlock", [line])) is reply


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Yes, unlock seven", Reply.OTHER),
        ("Yes, unlock the gate", Reply.OTHER),
        ("Yes, unlock the gate seven", Reply.OTHER),
        ("Yes, unlock seven, gate", Reply.YES),
    ],
)
def test_a_name_with_a_comma(message: str, reply: Reply) -> None:
    """The part before the comma is not the name."""
    step = Step("lock.unlock", ("lock.gate",), {}, "Unlock: Seven, Gate (lock.unlock)")
    assert question_about(step).reply(message, "en") is reply


def test_a_script_with_a_time_in_its_name() -> None:
    """Words of an action that names no entity are repeated together or not at all."""
    step = Step("script.gate_seven", (), {}, "Gate seven (script.gate_seven)")
    assert question_about(step).reply("Yes, seven", "en") is Reply.OTHER
    assert question_about(step).reply("Yes, gate seven", "en") is Reply.YES


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("Yes, add it", Reply.YES),
        ("Yes, add the automation", Reply.YES),
        ("Yes, dinner", Reply.OTHER),
        ("Yes, add at dinner", Reply.OTHER),
    ],
)
def test_a_new_automation(message: str, reply: Reply) -> None:
    """Its title is repeated in words, its name and its parts are not."""
    parts = (Part("At dinner"), Part("Unlock: Gate"))
    step = Step("change_automation", (), {}, title="Add the automation 'At dinner'", parts=parts)
    assert question_about(step).reply(message, "en") is reply
