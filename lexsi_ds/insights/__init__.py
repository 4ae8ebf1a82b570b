"""What a table holds beyond its columns: statistics, components computed once a version, and surprises."""
