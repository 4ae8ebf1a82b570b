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
