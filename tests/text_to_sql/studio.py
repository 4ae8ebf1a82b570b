"""A studio with branches, trainers who lead others, members, classes, bookings and payments: small, and made of rules."""

from __future__ import annotations

STUDIO = {
    "branches": "SELECT * FROM (VALUES (1, 'Harbour', 'Graz', 3000), (2, 'Station', 'Linz', 2000), (3, 'Hill', 'Graz', 500))"
    " AS t(branch_id, branch_name, city, residents)",
    "trainers": "SELECT n AS trainer_id, 'Trainer ' || n AS trainer_name, ['female', 'male'][n % 2 + 1] AS gender,"
    " n % 3 + 1 AS branch_id, 20.0 + n AS hourly_rate, CASE WHEN n > 2 THEN n % 2 + 1 END AS supervisor_id"
    " FROM range(1, 9) AS t(n)",
    "members": "SELECT n AS member_id, 'Member ' || n AS member_name, DATE '1960-01-01' + CAST(n * 400 AS INTEGER) AS birth_date,"
    " ['Graz', 'Linz', 'Wels'][n % 3 + 1] AS city, ['basic', 'plus', 'premium'][n % 3 + 1] AS plan,"
    " DATE '2021-01-01' + CAST(n AS INTEGER) AS joined_on, CASE WHEN n % 4 = 0 THEN DATE '2022-01-01' + CAST(n AS INTEGER) END"
    " AS left_on, n % 3 % 2 + 1 AS branch_id FROM range(1, 41) AS t(n)",
    "classes": "SELECT n AS class_id, 'Class ' || n AS class_name, ['beginner', 'middle', 'advanced'][n % 3 + 1] AS level,"
    " n * 5 AS capacity, n % 7 + 1 AS trainer_id FROM range(1, 11) AS t(n)",
    "bookings": "SELECT n AS booking_id, n * 7 % 35 + 1 AS member_id, n * 3 % 9 + 1 AS class_id, DATE '2022-01-01' + CAST(n * 3 AS"
    " INTEGER) AS booked_on, DATE '2022-01-01' + CAST(n * 3 + n % 40 AS INTEGER) AS held_on, CASE WHEN n % 5 = 0 THEN 'no' ELSE"
    " 'yes' END AS attended FROM range(1, 201) AS t(n)",
    "payments": "SELECT n AS payment_id, n % 38 + 1 AS member_id, DATE '2022-01-01' + CAST(n * 5 AS INTEGER) AS paid_on,"
    " 10.0 + n % 17 AS amount, CASE WHEN n % 38 < 5 THEN 'card' ELSE ['card', 'cash',"
    " 'transfer'][n % 3 + 1] END AS method FROM range(1, 121) AS t(n)",
}
