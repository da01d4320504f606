"""Times in an answer that was given before its calls: said by code, or not said."""

from datetime import datetime
from zoneinfo import ZoneInfo

from freezegun.api import FrozenDateTimeFactory
import pytest

from custom_components.extended_assist.calls.change_recorder import Due
from custom_components.extended_assist.claude.answer_when_done import said_when, with_times
from custom_components.extended_assist.const import CONF_ASK_FIRST, CONF_FAMILIES
from custom_components.extended_assist.scheduled.manager import async_get_scheduled_tasks
from homeassistant.components import conversation
from homeassistant.core import HomeAssistant
from homeassistant.util import dt as dt_util
from tests.claude_server import ClaudeServer, Turn, text, tool_use
from tests.conftest import Converse
from tests.helpers.talking import speech

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 6, 20, 0, tzinfo=ZONE)
"""A Friday."""
TOMORROW = Due(datetime(2026, 3, 7, 7, 0, tzinfo=ZONE).timestamp())

WRONG = {
    "en": [
        "I'll remind you today at 7.",
        "OK, at seven.",
        "I'll wake you tonight.",
        "Every Monday, then.",
        "In twenty minutes.",
        "I'll say it on March the sixth.",
        "At one o'clock.",
        "In half an hour.",
    ],
    "de": [
        "Ich erinnere dich heute um 7 Uhr.",
        "Ich erinnere dich um sieben.",
        "Übermorgen also.",
        "Am Donnerstag, gern.",
        "Heute Abend.",
        "In einer Stunde.",
        "Um eins.",
    ],
    "es": ["Te lo recuerdo hoy a las siete.", "A la una.", "El jueves.", "Esta noche.", "En una hora.", "A las once."],
    "fr": ["Je te le rappelle aujourd\u2019hui.", "À sept heures.", "Jeudi.", "Ce soir.", "Dans une heure.", "À midi."],
    "it": ["Te lo ricordo oggi.", "Alle sette.", "Alle due.", "Giovedì.", "Stasera.", "Tra un'ora.", "All'una."],
    "ko": [
        "오늘 알려 드릴게요.",
        "일곱 시에 알려 드릴게요.",
        "목요일에요.",
        "7시에요.",
        "한 시간 후에요.",
        "저녁에 알려 드릴게요.",
    ],
    "nl": ["Ik herinner je er vandaag aan.", "Om zeven uur.", "Donderdag.", "Vanavond.", "Over een uur."],
    "pl": ["Przypomnę ci dzisiaj.", "O siódmej.", "W czwartek.", "Wieczorem.", "Za godzinę.", "Szóstego marca."],
    "pt-BR": ["Vou te lembrar hoje.", "Às sete.", "Na quinta-feira.", "Esta noite.", "Em uma hora.", "Ao meio-dia."],
    "zh-Hans": ["我今天提醒您。", "七点提醒您。", "星期四提醒您。", "今晚提醒您。", "一小时后提醒您。", "三月六号。"],
}
PLAIN = {
    "en": "OK, I'll remind you of the milk.",
    "de": "Alles klar, ich erinnere dich an die Milch.",
    "es": "De acuerdo, te recordaré la leche.",
    "fr": "D'accord, je te rappellerai le lait.",
    "it": "Va bene, ti ricordo il latte.",
    "ko": "네, 우유를 알려 드릴게요.",
    "nl": "Oké, ik herinner je aan de melk.",
    "pl": "Dobrze, przypomnę ci o mleku.",
    "pt-BR": "Certo, vou te lembrar do leite.",
    "zh-Hans": "好的，我会提醒您买牛奶。",  # noqa: RUF001
}
FILLED = {
    "en": "tomorrow, Saturday, at 07:00",
    "de": "morgen, Samstag, um 07:00 Uhr",
    "es": "mañana, sábado, a las 07:00",
    "fr": "demain, samedi, à 07:00",
    "it": "domani, sabato, alle 07:00",
    "ko": "내일(토요일) 07:00에",
    "nl": "morgen, zaterdag, om 07:00",
    "pl": "jutro (sobota) o 07:00",
    "pt-BR": "amanhã, sábado, às 07:00",
    "zh-Hans": "明天（星期六）07:00",  # noqa: RUF001
}


@pytest.fixture
def friday(freezer: FrozenDateTimeFactory) -> None:
    """Let it be a Friday evening."""
    freezer.move_to(NOW)
    dt_util.set_default_time_zone(ZONE)


in_the_evening = pytest.mark.usefixtures("friday")


@in_the_evening
@pytest.mark.parametrize("language", WRONG)
def test_wrong_times(language: str) -> None:
    """What names a time is not spoken, in whatever language it was expected; without anything planned it is."""
    for answer in WRONG[language]:
        for expected in (language, "en", "de"):
            assert with_times(answer, [TOMORROW], expected) is None, answer
            assert with_times(answer, [Due(None)], expected) is None, answer
        assert with_times(f"{answer} {{next}}", [TOMORROW], language) is None, answer
        assert with_times(answer, [], language) == answer


MORE = {
    "en": [
        "I'll remind you at seventeen hundred.",
        "I'll do it on Fri.",
        "I'll turn it on at sunset.",
        "I'll wake you at ⅶ.",
        "At ½ past.",
        "In a fortnight.",
        "I'll tell you soon.",
        "After lunch.",
        "At bedtime.",
        "On the fifth.",
        "On the twenty-first.",
        "Hourly, then.",
        "At eighteen.",
    ],
    "de": [
        "Ich mache es um dreizehn.",
        "In einer Viertelstunde.",
        "Um einundzwanzig.",
        "Am Fr. also.",
        "Am fünften.",
        "Bei Sonnenuntergang.",
        "Bald.",
        "Stündlich.",
        "Nach dem Essen.",
        "In zwei Wochen.",
        "Gegen eins.",
    ],
    "es": [
        "A las trece.",
        "El vie. te aviso.",
        "Al atardecer.",
        "El quinto.",
        "Después de la cena.",
        "Pronto.",
        "A las veintiuna.",
    ],
    "fr": ["À dix-sept.", "Le ven. prochain.", "Au coucher du soleil.", "Le cinquième.", "Après le dîner.", "Bientôt."],
    "it": [
        "Alle diciassette.",
        "Ven. te lo ricordo.",
        "Al tramonto.",
        "Il quinto.",
        "Dopo pranzo.",
        "Tra poco.",
        "Alle ventitré.",
    ],
    "ko": [
        "한시에 깨울게요.",
        "십칠시에요.",
        "해 질 무렵에요.",
        "식사 후에요.",
        "곧 알려 드릴게요.",
        "(금)에요.",
        "사흘 뒤에요.",
    ],
    "nl": [
        "Ik wek je om één.",
        "Om zeventien.",
        "Op vr. dus.",
        "Bij zonsondergang.",
        "De vijfde.",
        "Na het ontbijt.",
        "Binnenkort.",
        "Om eenentwintig.",
    ],
    "pl": ["O siedemnaście.", "W pt. rano.", "O zachodzie słońca.", "Po obiedzie.", "Wkrótce.", "O trzydziestej."],
    "pt-BR": ["Às dezessete.", "Na sex. aviso.", "No pôr do sol.", "No quinto.", "Depois do almoço.", "Em breve."],
    "zh-Hans": [
        "日落提醒您。",
        "饭后提醒您。",
        "马上提醒您。",
        "十七提醒您。",
        "睡前提醒您。",
        "三刻提醒您。",
        "月底提醒您。",
    ],
}


@in_the_evening
@pytest.mark.parametrize("language", MORE)
def test_prepared_times(language: str) -> None:
    """Numbers, abbreviations, ordinals and times of day that name another time than was planned are not spoken."""
    for answer in MORE[language]:
        for expected in (language, "en", "de"):
            assert with_times(answer, [TOMORROW], expected) is None, answer
        assert with_times(answer, [], language) == answer


@in_the_evening
@pytest.mark.parametrize("language", PLAIN)
def test_spoken(language: str) -> None:
    """What names no time is spoken, and the moment is said by code."""
    plain = PLAIN[language]
    assert with_times(plain, [TOMORROW], language) == plain
    assert with_times(plain, [TOMORROW, Due(None)], language) == plain
    assert with_times(f"{plain} {{next}}", [TOMORROW], language) == f"{plain} {FILLED[language]}"
    assert with_times(f"{plain} {{next}}", [TOMORROW, TOMORROW], language) == f"{plain} {FILLED[language]}"


@in_the_evening
@pytest.mark.parametrize(
    ("language", "answer"),
    [
        ("en", "Sure, I'll do it and tell you when the washing machine has finished."),
        ("de", "Gut, ich mache das so und sage dir dann Bescheid."),
        ("es", "Bien, lo hago y te aviso."),
        ("fr", "Bien, je le fais et je vous préviens."),
        ("it", "Bene, lo faccio e ti avviso di tutto."),
        ("ko", "네, 알겠습니다. 창문을 닫을게요."),
        ("nl", "Goed, ik doe het en laat het je weten."),
        ("pl", "Dobrze, zrobię to i dam ci znać."),
        ("pt-BR", "Certo, vou fazer isso e aviso você."),
        ("zh-Hans", "好的，我一定会和您一起关灯。"),  # noqa: RUF001
    ],
)
def test_ordinary_words(language: str, answer: str) -> None:
    """Short words of one language are no abbreviations of weekdays in another."""
    assert with_times(answer, [TOMORROW], language) == answer


@in_the_evening
def test_no_single_moment() -> None:
    """Where there is none, or several, nothing can be said in its place; nor in a language whose words are not known."""
    assert with_times("OK {next}.", [], "en") is None
    assert with_times("OK {next}.", [Due(None)], "en") is None
    assert with_times("OK {next}.", [TOMORROW, Due(NOW.timestamp() + 60)], "en") is None
    assert with_times("OK {next}.", [TOMORROW, Due(None)], "en") is None
    assert with_times("Selvä, muistutan {next}.", [TOMORROW], "fi") is None
    assert with_times("Selvä, muistutan tänään.", [TOMORROW], "fi") is None
    assert with_times("Selvä.", [], "fi") == "Selvä."


@in_the_evening
@pytest.mark.parametrize(
    ("seconds", "answer"),
    [
        (600, "I will turn it on in ten minutes."),
        (600, "Okay, in 10 minutes."),
        (5400, "In 1 hour and 30 minutes."),
        (3600, "In einer Stunde."),
        (1200, "En veinte minutos."),
        (7200, "Tra due ore."),
        (600, "10분 후에 알려 드릴게요."),
        (600, "十分钟后提醒您。"),
        (120, "Za dwie minuty."),
        (1020, "In seventeen minutes."),
        (1020, "In siebzehn Minuten."),
        (4800, "Dans quatre-vingts minutes."),
        (780, "十三分钟后提醒您。"),
    ],
)
def test_lengths(seconds: float, answer: str) -> None:
    """A length of time is spoken where it is the one until the moment."""
    for off in (0, -3):
        assert with_times(answer, [Due(NOW.timestamp() + seconds + off)], "en") == answer
    for off in (-seconds / 2, seconds / 4, 86400):
        assert with_times(answer, [Due(NOW.timestamp() + seconds + off)], "en") is None
    assert with_times(f"Today. {answer}", [Due(NOW.timestamp() + seconds)], "en") is None


@in_the_evening
def test_said_when() -> None:
    """A date with its weekday, but for today and tomorrow; clocks are those of the home."""
    for moment, expected in {
        "2026-03-06T23:59": "today at 23:59",
        "2026-03-07T00:01": "tomorrow, Saturday, at 00:01",
        "2026-03-08T07:00": "on Sunday, March 8, at 07:00",
        "2026-03-29T03:00": "on Sunday, March 29, at 03:00",
        "2027-01-01T07:00": "on Friday, January 1, at 07:00",
    }.items():
        assert said_when(datetime.fromisoformat(moment).replace(tzinfo=ZONE).timestamp(), "en-GB") == expected


async def test_in_a_conversation(
    hass: HomeAssistant,
    house: None,
    entry: object,
    claude_server: ClaudeServer,
    converse: Converse,
    freezer: FrozenDateTimeFactory,
) -> None:
    """A day that the model misjudged is not spoken: it reads when it will be, and answers."""
    await hass.config.async_set_time_zone("Europe/Berlin")
    freezer.move_to(NOW)
    (loaded,) = hass.config_entries.async_loaded_entries("extended_assist")
    hass.config_entries.async_update_entry(loaded, options={CONF_FAMILIES: ["wishes"], CONF_ASK_FIRST: []})
    await hass.async_block_till_done()
    later = tool_use("extended_assist__do_later", {"when": {"at": "07:00"}, "say": "The milk!"})

    async def say(answer: str, *after: Turn, calls: tuple[dict[str, object], ...] = (later,)) -> tuple[str, int]:
        before = len(claude_server.message_requests)
        prepared = tool_use("answer_when_done", {"answer": answer})
        result: conversation.ConversationResult = await converse("Remind me", Turn([*calls, prepared]), *after)
        return speech(result), len(claude_server.message_requests) - before

    wrong = "I will remind you today at seven."
    right = "I will remind you tomorrow at seven."
    assert await say(wrong, Turn([text(right)])) == (right, 2)
    assert "Saturday 2026-03-07 07:00:00" in str(claude_server.message_requests[-1]["messages"])
    assert wrong not in str([one["content"] for one in claude_server.message_requests[-1]["messages"][2:]])
    assert await say("I will remind you {next}.") == ("I will remind you tomorrow, Saturday, at 07:00.", 1)
    assert await say("I will remind you.") == ("I will remind you.", 1)
    (one, *_) = (await async_get_scheduled_tasks(hass)).standing
    snooze = tool_use("extended_assist__pending", {"snooze": {"id": one.id, "seconds": 3600}})
    assert await say("Snoozed until today at eight.", Turn([text(right)]), calls=(snooze,)) == (right, 2)
    assert await say("Snoozed: {next}.", calls=(snooze,)) == ("Snoozed: tomorrow, Saturday, at 09:00.", 1)
    opened = [{"trigger": "state", "entity_id": "lock.front_door", "to": "unlocked"}]
    waits = tool_use("extended_assist__do_later", {"when": {"triggers": opened}, "say": "It is open"})
    assert await say("I will say it today.", Turn([text(right)]), calls=(waits,)) == (right, 2)
    assert await say("I will say it then.", calls=(waits,)) == ("I will say it then.", 1)
