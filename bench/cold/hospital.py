"""Admissions of an invented hospital: seven tables, and questions whose gold was written before the product was asked."""

from __future__ import annotations

import random

from bench.cold.making import Rows, day, later

DDL = """
create table wards(ward_id integer primary key, ward_name text, specialty text, beds integer);
create table doctors(doctor_id integer primary key, surname text, grade text, ward_id integer references wards(ward_id),
  hired_on date, salary real);
create table patients(patient_id integer primary key, full_name text, sex text, born_on date, postcode_area text, smoker integer);
create table admissions(admission_id integer primary key, patient_id integer references patients(patient_id),
  ward_id integer references wards(ward_id), admitting_doctor_id integer references doctors(doctor_id), admitted_on date,
  discharged_on date, route text, outcome text);
create table diagnoses(icd_code text primary key, description text, chapter text);
create table admission_diagnoses(admission_id integer references admissions(admission_id),
  icd_code text references diagnoses(icd_code), is_primary integer);
create table procedures(procedure_id integer primary key, admission_id integer references admissions(admission_id),
  procedure_name text, performed_on date, cost_eur real, duration_min integer);
"""


def rows(pick: random.Random) -> dict[str, Rows]:
    """Rows of each table."""
    wards = [
        (1, "Maple", "cardiology", 24),
        (2, "Birch", "orthopaedics", 30),
        (3, "Willow", "oncology", 18),
        (4, "Rowan", "respiratory", 22),
        (5, "Hazel", "paediatrics", 16),
        (6, "Alder", "neurology", 20),
    ]
    doctors = [
        (
            i,
            f"Dr. {n}",
            pick.choice(["consultant", "registrar", "junior"]),
            pick.randint(1, 6),
            day(pick, "2001-01-01", "2022-12-31"),
            round(pick.uniform(42_000, 140_000), 2),
        )
        for i, n in enumerate(
            [
                "Abara",
                "Bell",
                "Costa",
                "Dube",
                "Eriksen",
                "Farah",
                "Gill",
                "Horvat",
                "Ito",
                "Jansen",
                "Kaya",
                "Lund",
                "Mori",
                "Novak",
                "Okoye",
                "Petit",
                "Quist",
                "Rossi",
                "Silva",
                "Tanaka",
                "Urban",
                "Vogel",
                "Weiss",
                "Yilmaz",
            ],
            1,
        )
    ]
    first, last = (
        ["Ann", "Bo", "Cy", "Di", "Ed", "Fay", "Gil", "Hal", "Ivy", "Jo"],
        ["Ames", "Bird", "Cole", "Dunn", "Epps", "Ford", "Gray", "Hume"],
    )
    patients = [
        (
            i,
            f"{pick.choice(first)} {pick.choice(last)}",
            pick.choice("FM"),
            day(pick, "1931-01-01", "2019-12-31"),
            pick.choice(["LS", "BD", "HX", "WF"]),
            pick.choice([0, 0, 0, 1]),
        )
        for i in range(1, 901)
    ]
    codes = [
        ("I21", "heart attack", "circulatory"),
        ("I50", "heart failure", "circulatory"),
        ("S72", "hip fracture", "injury"),
        ("S52", "forearm fracture", "injury"),
        ("C34", "lung cancer", "neoplasm"),
        ("J18", "pneumonia", "respiratory"),
        ("J45", "asthma", "respiratory"),
        ("G40", "epilepsy", "nervous"),
        ("G35", "multiple sclerosis", "nervous"),
    ]
    admissions: Rows = []
    for i in range(1, 2401):
        came = day(pick, "2021-01-01", "2024-12-20")
        left = later(came, pick.choice([0, 1, 2, 2, 3, 4, 6, 9, 15, 31])) if pick.random() < 0.97 else None
        how = pick.choice(["emergency", "emergency", "planned", "transfer"])
        end = pick.choice(["home", "home", "home", "care home", "died"]) if left else None
        admissions.append((i, pick.randint(1, 800), pick.randint(1, 6), pick.randint(1, 22), came, left, how, end))
    noted = [
        (a[0], code, int(n == 0))
        for a in admissions
        for n, code in enumerate(pick.sample([c[0] for c in codes], pick.choice([1, 1, 2, 3])))
    ]
    done: Rows = []
    for i in range(1, 2001):
        one = pick.choice(admissions[:2100])
        kind = pick.choice(["MRI scan", "CT scan", "hip replacement", "bypass", "biopsy", "x-ray"])
        done.append(
            (
                i,
                one[0],
                kind,
                later(one[4], pick.randint(0, 3)),
                round(pick.uniform(40, 9_000), 2),
                pick.randint(5, 320),
            )
        )
    return {
        "wards": wards,
        "doctors": doctors,
        "patients": patients,
        "admissions": admissions,
        "diagnoses": codes,
        "admission_diagnoses": noted,
        "procedures": done,
    }
