"""What counts as a yes, what as a no, and what as neither, in every language that the words are known of."""

from itertools import product
from pathlib import Path

import pytest

from custom_components.extended_assist.toolbox.hearing import LANGUAGES, Heard, hear, words_for

TRANSLATIONS = Path("custom_components/extended_assist/translations")

YES = {
    "en": ["yes", "Yes.", "YES!", "yes please", "Yes, please!", "sure, go ahead", "yes, do it", "ok", "Okay, thanks", "Of course.", "Yeah, sure", "please do", "yesss", "Go ahead, please.", "all right then"],
    "de": ["ja", "Ja, bitte", "ja bitte mach das", "Na klar!", "gerne", "Jawohl", "einverstanden", "Okay, mach das", "Ja, danke", "Auf jeden Fall!", "naturlich", "yes"],
    "es": ["sí", "Si, por favor", "claro que sí", "Vale, adelante", "¡Hazlo!", "de acuerdo", "sí, gracias"],
    "fr": ["oui", "oui vas-y", "Oui, s’il te plaît", "D'accord", "bien sûr, allez-y", "ok merci", "Oui, fais-le"],
    "it": ["sì", "si, grazie", "Va bene", "certo, procedi", "Sì per favore", "d'accordo"],
    "nl": ["ja", "ja graag", "Doe maar", "prima, bedankt", "Ja hoor", "ga je gang alsjeblieft"],
    "pl": ["tak", "Tak, proszę", "jasne", "Dobrze, zrób to", "oczywiście", "tak dziękuję"],
    "pt-BR": ["sim", "Sim, por favor", "pode sim", "claro, obrigado", "Pode fazer", "tá bom"],
    "ko": ["네", "네, 부탁해요", "응 해줘", "그래", "좋아요", "네, 진행해 주세요", "물론이죠"],
    "zh-Hans": ["好", "好的", "好的，谢谢", "是的，请执行", "可以", "没问题", "当然可以", "嗯"],
    "sv": ["yes", "ok"],
}  # fmt: skip
NO = {
    "en": ["no", "No!! Do not unlock the door.", "stop", "cancel", "rather not", "No, thanks", "nope", "don't", "Please don't do that", "never", "no wait, yes", "Oh no, leave it", "I don't want that", "of course not", "Please do not unlock it", "I said no", "noooo", "No?", "I’ve changed my mind", "Absolutely not!"],
    "de": ["nein", "nein lass das", "Nein, danke", "Bloß nicht!", "Lieber nicht", "bitte nicht", "stopp", "auf keinen Fall", "vergiss es", "Schließ die Tür nicht auf!", "nö", "no", "Ach nein, doch nicht", "natürlich nicht"],
    "es": ["no", "No, gracias", "mejor no", "cancela", "¡No abras la puerta!", "claro que no", "La puerta no", "olvídalo"],
    "fr": ["non", "Non merci", "surtout pas", "N'ouvre pas la porte", "laisse tomber", "annule", "bien sûr que non", "arrête"],
    "it": ["no", "No grazie", "meglio di no", "Non aprire la porta", "annulla", "lascia stare", "certo che no", "per favore non farlo"],
    "nl": ["nee", "Nee, dank je", "liever niet", "Doe de deur niet open", "laat maar", "annuleer", "stop ermee", "natuurlijk niet"],
    "pl": ["nie", "Nie, dziękuję", "lepiej nie", "Proszę nie otwierać", "anuluj", "zostaw to", "oczywiście że nie", "nigdy"],
    "pt-BR": ["não", "nao", "Não, obrigado", "melhor não", "cancela", "deixa pra lá", "Por favor, não abra a porta", "de jeito nenhum"],
    "ko": ["아니", "아니요", "아니요, 괜찮아요", "하지 마", "하지마세요", "문을 열지 마", "취소", "안 돼요", "그만해"],
    "zh-Hans": ["不", "不要", "不用了，谢谢", "别开门", "取消", "请不要开锁", "算了", "不行", "当然不"],
    "sv": ["no", "stop"],
}  # fmt: skip
OTHER = {
    "en": ["Yes, the light please", "yes but only the lamp", "yes, no wait", "yes?", "Thanks!", "thank you", "please", "", "?!", "What?", "which door", "maybe", "I don't know", "not sure", "the first one", "yes and turn on the lamp", "ok google", "yes, but not the door", "no problem", "Why not?", "Is it locked?", "sure, no", "tomorrow", "yes 2", "yes and", "yes but", "play some music", "okay then what", "The note knows"],
    "de": ["Ja, das Licht bitte", "ja aber nur die Lampe", "ja?", "Danke!", "bitte", "welche Tür", "ja, nein, warte", "vielleicht", "ich weiß nicht", "Ja nicht!", "ja und", "kein Problem", "Jagdhaus", "nachher"],
    "es": ["sí, la luz", "sí pero solo la lámpara", "¿sí?", "gracias", "no sé", "tal vez", "sí, no espera", "la cocina"],
    "fr": ["oui, la lumière", "oui mais seulement la lampe", "oui ?", "merci", "je ne sais pas", "peut-être", "oui non attends", "pas de problème"],
    "it": ["sì, la luce", "sì ma solo la lampada", "sì?", "grazie", "non lo so", "forse", "sì, no aspetta"],
    "nl": ["ja, het licht", "ja maar alleen de lamp", "ja maar", "ja?", "dank je", "weet ik niet", "misschien", "ja nee wacht"],
    "pl": ["tak, światło", "tak ale tylko lampa", "tak?", "dziękuję", "nie wiem", "może", "tak nie czekaj"],
    "pt-BR": ["sim, a luz", "sim mas só a lâmpada", "sim?", "obrigado", "não sei", "talvez", "sim, não, espera"],
    "ko": ["네, 불만 켜 주세요", "네?", "고마워요", "모르겠어요", "글쎄", "나중에", "네 하지만 램프만"],
    "zh-Hans": ["好，只开灯", "可以吗", "好吗？", "谢谢", "不知道", "也许", "是不是", "好像", "别的灯", "不错"],
    "sv": ["ja", "tak", "nej", "kanske"],
}  # fmt: skip
TABLE = [
    (heard, language, message)
    for heard, table in ((Heard.YES, YES), (Heard.NO, NO), (Heard.OTHER, OTHER))
    for language, messages in table.items()
    for message in messages
]


@pytest.mark.parametrize(("heard", "language", "message"), TABLE)
def test_hear(heard: Heard, language: str, message: str) -> None:
    """A clear yes, a clear no, and everything else."""
    assert hear(message, language) is heard


def test_the_languages_are_those_of_the_translations() -> None:
    """Where the options speak a language, a yes and a no are heard in it, and a question is asked in it."""
    assert {path.stem for path in TRANSLATIONS.glob("*.json")} == LANGUAGES
    for language in LANGUAGES:
        words = words_for(language)
        assert words
        assert words.keys() == (words_for("en") or {}).keys()
        assert words["shall"].endswith(("?", "？"))


def test_no_word_is_a_yes_and_a_no() -> None:
    """Whatever is said after it, a refusal is none of the things that agree, in any language together with English."""
    for language, no in product(LANGUAGES, ("no", "stop", "cancel", "don't")):
        assert hear(no, language) is Heard.NO
        for yes in YES[language][:3]:
            assert hear(f"{no}, {yes}", language) is not Heard.YES
            assert hear(f"{yes}, {no}", language) is not Heard.YES


@pytest.mark.parametrize(
    ("tag", "known"),
    [("de-AT", True), ("pt", True), ("en_GB", True), ("zh-CN", True), ("zh-Hant", False), ("sv", False)],
)
def test_tags(tag: str, known: bool) -> None:
    """A tag means its language; traditional Chinese is heard, and not spoken."""
    assert (words_for(tag) is not None) is known
    assert hear("好", "zh-Hant") is Heard.YES
