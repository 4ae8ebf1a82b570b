"""Encodings of languages are told by their letters; a wrong byte in a file of UTF-8 costs that place, not the file."""

from __future__ import annotations

import pytest

from lexsi_ds.data.text_file import guess_encoding
from tests.data.conftest import Importing

_WORDS = {
    "Polish": "Wiśniewski Wójcik Zieliński Szymański Woźniak Dąbrowski Kozłowski Zając Pawłowski Król Łęcki Żak Świętosława Łódź",
    "Czech": "Dvořák Černý Procházka Kučera Veselý Horák Němec Marešová Pospíšil Hájek Král Jelínek Růžička Beneš Fiala Sedláček",
    "Slovak": "Kováč Horváth Varga Tóth Nagy Baláž Szabó Molnár Balog Lukáč Novák Polák Gajdoš Kollár Hudák Ďurčo Ľubomír Šťastný",
    "Hungarian": "Kovács Tóth Szabó Horváth Győző Erdős Fűtő Gergő Ágnes Béla Csilla Dénes Zoltán Jenő Ödön Ügyes",
}


@pytest.mark.parametrize("encoding", ["cp1250", "iso8859_2"])
@pytest.mark.parametrize("language", list(_WORDS))
def test_letters_of_a_language_tell_its_code_page(csv: Importing, language: str, encoding: str) -> None:
    names = _WORDS[language].split()
    read = csv(("id;name\n" + "".join(f"{i};{n}\n" for i, n in enumerate(names))).encode(encoding))
    assert [name for _, name in read.rows()] == names


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Novák Novák Novák Dvořák", "cp1250"), ("Müller Jürgen Größe Käse", "cp1252"), ("François Hélène Noël Orléans", "cp1252"),
        ("Søren Ærø Håkon", "cp1252"), ("20 °C", "cp1252"), ("São João Conceição", "cp1252"), ("Niño Peña José", "cp1252"),
    ],
)  # fmt: skip
def test_few_letters_are_enough_and_western_ones_stay_western(text: str, encoding: str) -> None:
    assert text.encode(encoding).decode(guess_encoding(text.encode(encoding))) == text


def test_one_wrong_byte_leaves_the_rest_utf8(csv: Importing) -> None:
    lines = [f"{i},Jürgen{i}\n".encode() for i in range(1, 101)]
    lines[41] = b"42,J\xfcrgen42\n"
    read = csv(b"id,name\n" + b"".join(lines))
    assert read.rows()[0] == (1, "Jürgen1") and read.rows()[99] == (100, "Jürgen100") and len(read.rows()) == 100
    assert read.rows()[41] == (42, "J\ufffdrgen42") and read.table()["options"]["encoding"] == "utf-8"
    assert "1 place is no UTF-8 (the first on line 43)" in read.notes()
    assert csv(b"id,name\n" + b"".join(lines), encoding="utf-8").rows()[41] == (42, "J\ufffdrgen42")


def test_a_file_of_another_encoding_is_not_taken_for_mended_utf8(csv: Importing) -> None:
    read = csv("id,name\n1,Jürgen\n2,Käthe\n3,Zoë\n".encode("cp1252"))
    assert read.rows() == [(1, "Jürgen"), (2, "Käthe"), (3, "Zoë")] and "UTF-8" not in read.notes()


@pytest.mark.parametrize("language", ["Polish", "Czech", "Hungarian"])
def test_the_page_of_dos_is_told_by_its_letters(csv: Importing, language: str) -> None:
    names = _WORDS[language].split()
    read = csv(("id;name\n" + "".join(f"{i};{n}\n" for i, n in enumerate(names))).encode("cp852"))
    assert [name for _, name in read.rows()] == names and read.table()["options"]["encoding"] == "cp852"


@pytest.mark.parametrize("encoding", ["koi8_r", "cp1251", "cp866"])
def test_cyrillic_pages_are_told_apart(csv: Importing, encoding: str) -> None:
    names = ["Иванов", "Пётр", "МОСКВА", "улица", "Сергей", "Екатерина", "Новосибирск"]
    read = csv(("id,name\n" + "".join(f"{i},{n}\n" for i, n in enumerate(names))).encode(encoding))
    assert [name for _, name in read.rows()] == names


def test_few_letters_that_two_pages_read_otherwise_are_said(csv: Importing) -> None:
    body = ("id;jmeno\n" + "".join(f"{i};Novák\n" for i in range(20)) + "20;Řehoř\n").encode("cp1250")
    read = csv(body)
    assert "too few to be sure" in read.notes() and "“Øehoø” would be “Řehoř” as cp1250" in read.notes()
    assert csv(body, encoding="cp1250").rows()[20] == (20, "Řehoř")
    assert "too few" not in csv(body, encoding="cp1250").notes()


@pytest.mark.parametrize("words", ["Müller Jürgen Größe", "20 °C", "Wiśniewski Wójcik Zieliński Łódź"])
def test_where_the_letters_are_clear_no_other_page_is_named(csv: Importing, words: str) -> None:
    encoding = "cp1250" if "ś" in words else "cp1252"
    read = csv(("a;b\n" + "".join(f"{w};1\n" for w in words.split(" "))).encode(encoding))
    assert [w for w, _ in read.rows()] == words.split(" ") and "too few" not in read.notes()
