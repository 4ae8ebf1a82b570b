"""Documents as bytes: made here, so that no file has to be kept beside the tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

import docx


def pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF with one text line after the other on each page; a page without lines is empty, as a scan is."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        content = f"BT /F1 12 Tf 72 720 Td 14 TL {shown} ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * i} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = b"".join(f"{at:010d} 00000 n \n".encode() for at in places)
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF".encode()
    return out + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode() + table + end


def word(heading: str, paragraphs: Sequence[str], table: Sequence[Sequence[str]] = ()) -> bytes:
    """A Word file with a heading, paragraphs and a table."""
    document = docx.Document()
    document.add_heading(heading, 1)
    for text in paragraphs:
        document.add_paragraph(text)
    if table:
        made = document.add_table(rows=len(table), cols=len(table[0]))
        for i, row in enumerate(table):
            for j, cell in enumerate(row):
                made.cell(i, j).text = cell
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def word_bomb() -> bytes:
    """A small Word file that says it unpacks to 300 MB."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", b"<w>" + b" " * (300 * 2**20) + b"</w>")
    return out.getvalue()


DICTIONARY = """# Data dictionary

## Table loan

| Column | Meaning |
| --- | --- |
| status | State of the loan. A = repaid in full, B = closed with debt; Z = unheard of |
| payments | Monthly instalment in CZK |
| nosuch | Is not a column |

## client
- birth_number: encodes the day of birth

# Words
account_id: the account
Premium loans are loans above 300000.
The late fee is 45 CZK a month.
"""
