"""The districts of the demo bank: real Czech names and rounded sizes, every other figure drawn at random.

The figures are plausible, not true: nobody may quote them as statistics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

REGIONS: dict[str, tuple[tuple[str, int], ...]] = {
    "Prague": (("Hl.m. Praha", 1205),),
    "central Bohemia": (
        ("Benesov", 89), ("Beroun", 75), ("Kladno", 150), ("Kolin", 96), ("Kutna Hora", 78), ("Melnik", 95),
        ("Mlada Boleslav", 112), ("Nymburk", 81), ("Praha - vychod", 92), ("Praha - zapad", 76), ("Pribram", 108),
        ("Rakovnik", 54),
    ),
    "south Bohemia": (
        ("Ceske Budejovice", 178), ("Cesky Krumlov", 59), ("Jindrichuv Hradec", 94), ("Pelhrimov", 74), ("Pisek", 71),
        ("Prachatice", 51), ("Strakonice", 71), ("Tabor", 103),
    ),
    "west Bohemia": (
        ("Domazlice", 58), ("Cheb", 87), ("Karlovy Vary", 123), ("Klatovy", 89), ("Plzen - mesto", 170),
        ("Plzen - jih", 67), ("Plzen - sever", 73), ("Rokycany", 46), ("Sokolov", 95), ("Tachov", 51),
    ),
    "north Bohemia": (
        ("Ceska Lipa", 105), ("Decin", 134), ("Chomutov", 125), ("Jablonec n. Nisou", 89), ("Liberec", 160),
        ("Litomerice", 114), ("Louny", 86), ("Most", 120), ("Teplice", 128), ("Usti nad Labem", 119),
    ),
    "east Bohemia": (
        ("Havlickuv Brod", 96), ("Hradec Kralove", 162), ("Chrudim", 106), ("Jicin", 78), ("Nachod", 113),
        ("Pardubice", 163), ("Rychnov nad Kneznou", 79), ("Semily", 76), ("Svitavy", 103), ("Trutnov", 122),
        ("Usti nad Orlici", 139),
    ),
    "south Moravia": (
        ("Blansko", 108), ("Brno - mesto", 388), ("Brno - venkov", 157), ("Breclav", 125), ("Hodonin", 162),
        ("Jihlava", 109), ("Kromeriz", 109), ("Prostejov", 111), ("Trebic", 118), ("Uherske Hradiste", 146),
        ("Vyskov", 87), ("Zlin", 197), ("Znojmo", 114), ("Zdar nad Sazavou", 126),
    ),
    "north Moravia": (
        ("Bruntal", 106), ("Frydek - Mistek", 229), ("Jesenik", 43), ("Karvina", 285), ("Novy Jicin", 161),
        ("Olomouc", 226), ("Opava", 182), ("Ostrava - mesto", 324), ("Prerov", 138), ("Sumperk", 127), ("Vsetin", 149),
    ),
}  # fmt: skip
_CITIES = {"Hl.m. Praha", "Plzen - mesto", "Brno - mesto", "Ostrava - mesto"}
_NO_1995 = "Jesenik"
"""A district founded in 1996: it has no figures for 1995, as in the original."""


@dataclass(frozen=True)
class Places:
    """The district table, column by column, and each district's share of the bank's accounts (sums to 1)."""

    columns: dict[str, list[object]]
    share: npt.NDArray[np.float64]
    salary: npt.NDArray[np.int64]


def make_places(rng: np.random.Generator) -> Places:
    """Draw the figures of all 77 districts."""
    rows = [(region, name, size) for region, members in REGIONS.items() for name, size in members]
    regions, names = [r[0] for r in rows], [r[1] for r in rows]
    n = len(rows)
    city = np.array([name in _CITIES for name in names])
    people = np.array([r[2] for r in rows]) * 1000 + rng.integers(-499, 500, n)
    urban = np.where(city, 100.0, np.clip(rng.normal(58, 13, n) + people / 20_000, 33, 92).round(1))
    small, middle = rng.integers(10, 110, n), rng.integers(8, 42, n)
    towns, large = rng.integers(1, 14, n), 1 + people // 70_000
    salary = np.clip(7_600 + 22 * urban + rng.normal(0, 380, n), 8_000, 11_400).round().astype(np.int64)
    salary = np.where(city, salary + 450, salary)
    salary[0] = 12_480
    jobless = np.clip(rng.gamma(4.0, 0.85, n), 0.4, 8.5)
    jobless[0] = 0.31
    later = np.clip(jobless * rng.normal(1.18, 0.1, n) + 0.15, 0.4, 9.9)
    crime = (people * rng.uniform(0.016, 0.045, n)).astype(np.int64)
    crime[0] = int(people[0] * 0.071)
    figures: dict[str, list[object]] = {
        "district_id": list(range(1, n + 1)),
        "A2": list(names),
        "A3": list(regions),
        "A4": people.tolist(),
        "A5": np.where(city, 0, small).tolist(),
        "A6": np.where(city, 0, middle).tolist(),
        "A7": np.where(city, 0, towns).tolist(),
        "A8": np.where(city, 1, large).tolist(),
        "A9": np.where(city, 1, large + rng.integers(2, 8, n)).tolist(),
        "A10": urban.tolist(),
        "A11": salary.tolist(),
        "A12": jobless.round(2).tolist(),
        "A13": later.round(2).tolist(),
        "A14": rng.integers(82, 160, n).tolist(),
        "A15": crime.tolist(),
        "A16": (crime * rng.normal(1.02, 0.07, n)).astype(np.int64).tolist(),
    }
    figures["A12"][names.index(_NO_1995)] = None
    figures["A15"][names.index(_NO_1995)] = None
    return Places(figures, people / people.sum(), salary)
