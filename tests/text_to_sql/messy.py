"""A club whose columns are called as databases call them: short, in one word, with units at the end, years as numbers."""

from __future__ import annotations

CLUB = {
    "members": "SELECT n AS MbrID, 'Member ' || n AS FullNm, CASE WHEN n % 3 = 0 THEN 'F' ELSE 'M' END AS Gndr,"
    " DATE '1960-01-01' + CAST(n * 100 AS INTEGER) AS BirthDt, ['DE', 'FR', 'AT'][n % 3 + 1] AS CtryCd, n % 5 <> 0 AS isactive,"
    " CASE WHEN n % 4 = 0 THEN 'Y' ELSE 'N' END AS Smoker, 150 + n AS HeightCm, ['gold', 'basic'][n % 2 + 1] AS PlanTyp"
    " FROM range(1, 41) AS t(n)",
    "venues": "SELECT n AS VenueNo, 'Venue ' || n AS VenueNm, 1900 + 10 * n AS founded, 100 * n AS stadiumcapacity,"
    " 20.0 * n AS budget_musd FROM range(1, 11) AS t(n)",
    "bookings": "SELECT n AS BkgNo, n % 40 + 1 AS MbrID, n % 9 + 1 AS VenueNo, DATE '2024-01-01' + CAST(n AS INTEGER) AS BookDt,"
    " n % 7 * 5.0 AS FeeUSD, n % 3 * 10 AS Disc_Pct, n % 4 <> 0 AS attended, ['cash', 'card'][n % 2 + 1] AS PayMethod,"
    " n % 6 * 15 + 30 AS DurationMin, n * 2.0 AS total_price FROM range(1, 301) AS t(n)",
}
